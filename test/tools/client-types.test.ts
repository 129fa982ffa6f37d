import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { openApiDocument } from '../../src/openapi/index.js'
import { operations } from '../../src/operations/index.js'
import { operationOptions } from '../../src/operations/operation.js'
import { clientTypes, formatted } from '../../tools/api/client-calls.js'
import { typeScriptOf } from '../../tools/api/schemas.js'

const folder = new URL('../../src/client/', import.meta.url)

describe('the types of the client’s calls', () => {
  const made = clientTypes(operations, openApiDocument({ surfaceOptions: operationOptions }))

  it.each([...made.keys()])('%s is as `npm run generate` writes it', (name) => {
    const text = readFileSync(new URL(name, folder), 'utf8')
    expect(text).toBe(formatted(`src/client/${name}`, made.get(name) ?? ''))
  })

  it('are all that is in their folder', () => {
    const inFolder = [...made.keys()].filter((name) => name.startsWith('calls/'))
    const there = readdirSync(new URL('calls/', folder)).map((name) => `calls/${name}`)
    expect(there.sort()).toEqual(['calls/call.ts', ...inFolder].sort())
  })

  it('leave out what a page has no use for', () => {
    const text = [...made.values()].join('\n')
    for (const path of ['/jwks', '/auth/token', '/refresh', '/session', '/mobile/', '/callback']) {
      expect(text).not.toMatch(new RegExp(`'[A-Z]+ \\S*${path}'`))
    }
    expect(text).toContain("'POST /login'")
    expect(text).toContain("'PATCH /v1/admin/modules/{name}'")
  })

  it('tell of what an open object holds beside its members', () => {
    const text = { type: 'string' } as const
    const open = { type: 'object', properties: { slug: text }, additionalProperties: text } as const
    expect(typeScriptOf({ ...open, required: ['slug'] })).toBe(
      '{ readonly slug: string; readonly [name: string]: string }',
    )
    expect(typeScriptOf({ type: 'object', additionalProperties: text })).toBe(
      'Readonly<Record<string, string>>',
    )
  })

  it('are refused for a schema of a form that is not known', () => {
    expect(() => typeScriptOf({ allOf: [] })).toThrow('no type for {"allOf":[]}')
  })

  it('are refused where the path and the body have a member of one name', () => {
    const document = openApiDocument({ surfaceOptions: operationOptions })
    const path = '/v1/admin/modules/{name}'
    const name = { name: 'config', in: 'path', required: true, schema: { type: 'string' } } as const
    const { patch = null, ...others } = document.paths[path] ?? {}
    if (patch === null) throw new Error('there is no such operation')
    const item = { ...others, patch: { ...patch, parameters: [name] } }
    const twice = { ...document, paths: { ...document.paths, [path]: item } }
    expect(() => clientTypes(operations, twice)).toThrow('"config" is in the path and in the body')
  })
})
