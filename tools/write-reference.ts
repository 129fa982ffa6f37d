import { writeFileSync } from 'node:fs'
import { openApiDocument } from '../src/openapi/index.js'
import { operations } from '../src/operations/index.js'
import { referencePage } from './api/reference-page.js'

writeFileSync(
  new URL('../docs/reference.md', import.meta.url),
  referencePage(operations, openApiDocument()),
)
