import { readFileSync, writeFileSync } from 'node:fs'
import { openApiDocument } from '../src/openapi/index.js'
import { operations } from '../src/operations/index.js'
import { authSettingDeclarations } from '../src/settings/index.js'
import { optionsPage } from './api/options-page.js'
import { referencePage } from './api/reference-page.js'

const root = new URL('../', import.meta.url)
const write = (page: string, text: string) => writeFileSync(new URL(`docs/${page}.md`, root), text)

write('reference', referencePage(operations, openApiDocument()))
const options = readFileSync(new URL('src/options.ts', root), 'utf8')
write('options', optionsPage(options, authSettingDeclarations))
