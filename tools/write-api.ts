import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { apiPages, publicTypes } from './api/api-pages.js'

const folder = new URL('../test/package/api/', import.meta.url)

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder)
for (const [name, text] of apiPages(publicTypes())) writeFileSync(new URL(name, folder), text)
