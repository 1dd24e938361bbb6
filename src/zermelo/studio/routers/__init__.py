"""The routes of docs/studio.md, one router for each topic."""
