import { mkdirSync, writeFileSync } from 'node:fs'
import { openApiDocument } from '../src/openapi/index.js'
import { operations } from '../src/operations/index.js'
import { clientTypes } from './api/client-calls.js'
import { formatted } from './api/formatted.js'

const folder = new URL('../src/client/', import.meta.url)

mkdirSync(new URL('calls/', folder), { recursive: true })
for (const [name, text] of clientTypes(operations, openApiDocument())) {
  writeFileSync(new URL(name, folder), formatted(`src/client/${name}`, text))
}
