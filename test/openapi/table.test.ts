import { describe, expect, it } from 'vitest'
import { errorCatalogue } from '../../src/errors/index.js'
import { operations } from '../../src/operations/index.js'
import { namedSchemas } from '../../src/operations/named-schemas.js'
import type { Operation } from '../../src/operations/operation.js'
import { plantedOperation } from './planted.js'

/** What is wrong with an entry, whatever it does. */
function problemsOf({ id, method, path, errors, deprecated, guards, access }: Operation) {
  const isPublic = guards.some(({ kind }) => kind === 'public')
  const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/
  const { since = '', sunset = since } = deprecated ?? {}
  return [
    ...(/^[a-z][A-Za-z]+$/.test(id) ? [] : ['id']),
    ...(/^(\/[a-z0-9-]+|\/\{[a-zA-Z]+\})+$/.test(path) ? [] : ['path']),
    ...(new Set(errors).size === errors.length ? [] : ['a code twice']),
    ...(errors.every((code) => code in errorCatalogue) ? [] : ['an unknown code']),
    ...((access === 'public') === isPublic ? [] : ['guards']),
    ...(method === 'GET' && errors.includes('payload_too_large') ? ['a body'] : []),
    ...(deprecated === undefined || (instant.test(since) && instant.test(sunset))
      ? []
      : ['an instant']),
    ...(Date.parse(sunset) < Date.parse(since) ? ['gone before it leaves'] : []),
  ]
}

describe('the operation table', () => {
  it.each(operations)('$id is well-formed', (operation) => {
    expect(problemsOf(operation)).toEqual([])
  })

  it('has each id and each method and path once', () => {
    const routes = operations.map(({ method, path }) => `${method} ${path}`)
    for (const names of [operations.map(({ id }) => id), routes]) {
      expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
    }
  })

  it('protected routes neither read nor set the refresh cookie', () => {
    const touching = operations.filter(
      ({ cookies, usesRefreshCookie }) =>
        usesRefreshCookie !== undefined ||
        [...(cookies?.reads ?? []), ...(cookies?.sets ?? [])].includes('refresh'),
    )
    const open = touching.filter(({ access }) => access === 'public').map(({ id }) => id)
    expect(open).toContain('refreshCookie')
    // A ticket takes the place of the access token there, and finishes a login.
    const rest = touching.filter(({ access }) => access !== 'public').map(({ id }) => id)
    expect(rest).toEqual(['confirmTotp', 'finishPasskeyRegistration'])
  })

  it('is not fooled', () => {
    const since = '2026-03-01T00:00:00Z'
    const wrong: readonly Partial<Operation>[] = [
      { id: 'Planted' },
      { path: '/v1/auth//planted' },
      { errors: ['invalid_token', 'invalid_token'] },
      { guards: [{ kind: 'bearer' }] },
      { deprecated: { since: '2026-03-01' } },
      { deprecated: { since, sunset: '2026-02-01T00:00:00Z' } },
    ]
    expect(problemsOf(plantedOperation())).toEqual([])
    for (const more of wrong) expect(problemsOf(plantedOperation(more))).toHaveLength(1)
  })

  it('names each schema that has a name once', () => {
    const schemas = Object.values(namedSchemas)
    expect(new Set(schemas).size).toBe(schemas.length)
  })
})
