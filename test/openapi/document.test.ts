import { describe, expect, it } from 'vitest'
import { openApiDocument } from '../../src/openapi/index.js'
import type { OpenApiDocument, OpenApiOperation } from '../../src/openapi/types.js'
import { operations } from '../../src/operations/index.js'
import { operationOptions } from '../../src/operations/operation.js'

/** The tags of the authentication module, as the seed spells them. */
const authenticationTags = [
  'Authentication',
  'MFA',
  'WebAuthn',
  'Auth - Device Trust',
  'Service Accounts',
  'Mobile',
  'Self-Service',
]
/** Paths that only choose a surface are no operations of their own (T-22). */
const unprefixedPaths = ['/v1/auth/session', '/v1/auth/refresh-cookie', '/v1/auth/refresh']

interface Entry {
  readonly key: string
  readonly path: string
  readonly operation: OpenApiOperation
}

function entriesOf(document: OpenApiDocument): readonly Entry[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      key: `${method} ${path}`,
      path,
      operation,
    })),
  )
}

const document = openApiDocument({ surfaceOptions: operationOptions })
const entries = entriesOf(document)
const registered = entries.filter(({ path }) => !unprefixedPaths.includes(path))
const idsOf = (list: readonly Entry[]) => list.map(({ operation }) => operation.operationId)

describe('the OpenAPI document', () => {
  it('has the seven tags of the authentication module and the one of configuration', () => {
    const tags = document.tags.map(({ name }) => name)
    expect(tags.toSorted()).toEqual([...authenticationTags, 'Module Configuration'].toSorted())
    const used = new Set(entries.flatMap(({ operation }) => operation.tags))
    expect([...used].toSorted()).toEqual(tags.toSorted())
    expect(entries.filter(({ operation }) => operation.tags.length !== 1)).toEqual([])
  })

  it('holds every registered operation: about ninety, and seven of configuration', () => {
    const ofTag = (tag: string) => registered.filter(({ operation }) => operation.tags[0] === tag)
    expect(registered).toHaveLength(109)
    expect(ofTag('Module Configuration')).toHaveLength(7)
    const counts = authenticationTags.map((tag) => [tag, ofTag(tag).length])
    expect(Object.fromEntries(counts)).toEqual({
      Authentication: 37,
      MFA: 15,
      WebAuthn: 14,
      'Auth - Device Trust': 6,
      'Service Accounts': 8,
      Mobile: 8,
      'Self-Service': 14,
    })
  })

  it('gives each operation an id of its own, the same whatever the host mounts', () => {
    const ids = idsOf(entries)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).toEqual(expect.arrayContaining(['operatorLogin', 'clientLogin', 'resetUserMfa']))
    expect(ids).toEqual(expect.arrayContaining(['operatorRefresh', 'clientRefresh', 'refresh']))
    expect(ids.filter((id) => !/^[a-z][A-Za-z]+$/.test(id))).toEqual([])
    for (const surface of ['operator', 'client'] as const) {
      const alone = entriesOf(
        openApiDocument({ surfaces: [surface], surfaceOptions: operationOptions }),
      )
      const there = new Map(entries.map(({ key, operation }) => [key, operation.operationId]))
      expect(alone.length).toBeGreaterThan(30)
      for (const { key, operation } of alone) expect(there.get(key)).toBe(operation.operationId)
    }
  })

  it('describes both surfaces alike but for what operators alone have', () => {
    const below = (surface: string): ReadonlyMap<string, string> =>
      new Map(
        entries
          .filter(({ path }) => path.startsWith(`/v1/auth/${surface}/`))
          .map(({ key, operation }) => [
            key.replace(`/${surface}/`, '/'),
            JSON.stringify(operation)
              .replace(/"operationId":"(operator|client)/, '"operationId":"')
              .replaceAll(`"${surface}Bearer"`, '"bearer"')
              .replaceAll(`"${surface}RefreshCookie"`, '"cookie"')
              .replaceAll(/\b(op|cl)_/g, 'xx_')
              .replaceAll(/\((op|cl)\)_/g, '(xx)_'),
          ]),
      )
    const client = below('client')
    const operator = below('operator')
    const missing = [...client.keys()].filter((key) => !operator.has(key))
    expect(missing).toEqual([])
    for (const [key, described] of client) expect(operator.get(key)).toBe(described)
    const ownKeys = [...operator.keys()].filter((key) => !client.has(key))
    const operatorOnly = operations
      .filter(({ path, surfaces }) => surfaces.length === 1 && path.includes('/auth/'))
      .filter(({ path }) => !/^\/v1\/auth\/(?:oauth2\/)?token$/.test(path))
      .map(({ method, path }) =>
        `${method.toLowerCase()} ${path}`.replace(/\/(\{surface\}|operator)\//, '/'),
      )
    expect(ownKeys.toSorted()).toEqual(operatorOnly.toSorted())
  })

  it('has no administration and no grant for a host of clients alone', () => {
    const paths = Object.keys(openApiDocument({ surfaces: ['client'] }).paths)
    expect(paths.filter((path) => path.startsWith('/v1/admin'))).toEqual([])
    expect(paths).not.toContain('/v1/auth/token')
    expect(paths).toEqual(expect.arrayContaining(unprefixedPaths))
  })

  it('says where a module may refuse with the text-only body', () => {
    const texts = entries.filter(({ operation }) =>
      JSON.stringify(operation.responses[422] ?? {}).includes('text/plain'),
    )
    expect(idsOf(texts).toSorted()).toEqual([
      'setActiveEnvironment',
      'updateEnvironment',
      'updateModule',
    ])
    for (const { operation } of texts) {
      expect(operation.responses[422]).toMatchObject({
        content: { 'text/plain': { schema: { const: 'Unprocessable Entity' } } },
      })
    }
  })

  it('lets a client of the token endpoint authenticate by Basic or in the form, and no other operation', () => {
    const { paths, components } = openApiDocument({ surfaceOptions: operationOptions })
    const byBasic = Object.entries(paths).filter(([, item]) =>
      JSON.stringify(item).includes('clientSecretBasic'),
    )
    expect(byBasic.map(([path]) => path)).toEqual(['/v1/auth/oauth2/token'])
    const [[, item] = []] = byBasic
    expect(item?.post?.security).toEqual([{ clientSecretBasic: [] }, {}])
    expect(components.securitySchemes['clientSecretBasic']).toMatchObject({
      type: 'http',
      scheme: 'basic',
    })
    const clients = openApiDocument({ surfaces: ['client'] }).components.securitySchemes
    expect(Object.keys(clients)).toEqual(['clientBearer', 'clientRefreshCookie'])
  })

  it('names cookies as the host has them', () => {
    const schemes = (cookiePrefix?: '__Secure-' | '') =>
      openApiDocument(cookiePrefix === undefined ? {} : { cookiePrefix }).components
        .securitySchemes['clientRefreshCookie']?.['name']
    expect([schemes(), schemes('__Secure-'), schemes('')]).toEqual([
      '__Host-cl_refresh',
      '__Secure-cl_refresh',
      'cl_refresh',
    ])
    const named = JSON.stringify(openApiDocument({ cookieNamePrefix: 'shop_' }))
    expect(named).toContain('"__Host-shop_cl_refresh"')
    expect(named).not.toMatch(/[\^"(|)-](op|cl)_(refresh|\()|\?\((op|cl)\b/)
  })

  it('refuses surfaces there are not, by the name of the option', () => {
    const both: readonly ('operator' | 'client')[] = []
    expect(() => openApiDocument({ surfaces: both })).toThrow(/option "surfaces"/)
    const wrong = JSON.parse('["operators"]')
    expect(() => openApiDocument({ surfaces: wrong })).toThrow(TypeError)
  })

  it('is a new object at each call', () => {
    expect(openApiDocument({ surfaceOptions: operationOptions })).toEqual(document)
    expect(openApiDocument({ surfaceOptions: operationOptions })).not.toBe(document)
  })
})
