import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as z from 'zod/mini'
import { newUser } from '../../src/model/user.js'
import { documentOf } from '../../src/openapi/document.js'
import { openApiDocument } from '../../src/openapi/index.js'
import { operations } from '../../src/operations/index.js'
import type { Operation } from '../../src/operations/operation.js'
import { operationOptions } from '../../src/operations/operation.js'
import { contractChanges, contractEntries } from '../../tools/api/contract.js'
import { plantedOperation } from './planted.js'

const choices = {
  surfaces: ['operator', 'client'],
  cookiePrefix: '__Host-',
  info: { title: 'Planted', version: '1.0.0' },
  servers: [{ url: '/' }],
} as const

function entriesOf(...table: readonly Operation[]): readonly string[] {
  return contractEntries(table, documentOf(table, {}, choices))
}

describe('the contract', () => {
  const written = readFileSync(new URL('contract.txt', import.meta.url), 'utf8')
  const before = written.split('\n').filter(Boolean)
  const { broken, added } = contractChanges(
    before,
    contractEntries(operations, openApiDocument({ surfaceOptions: operationOptions })),
  )

  it('keeps every path, member and code that callers rely on', () => {
    expect(before.length).toBeGreaterThan(1000)
    expect(broken).toEqual([])
  })

  it('has no member for a hint or a secret question', () => {
    // What WebAuthn calls hints says which kind of authenticator a browser offers first.
    // OpenID Connect's `login_hint` names the account to sign in with, and reminds of no secret.
    const ofStandards = /options\.hints\?|login_hint/
    const named = before.filter((entry) => /hint|question|reminder/i.test(entry))
    expect(named.filter((entry) => !ofStandards.test(entry))).toEqual([])
    const email = 'ada@example.org'
    const stored = newUser(0, { id: 'a', email, emailAsTyped: email, name: '' })
    expect(Object.keys(stored).join()).not.toMatch(/hint|question|reminder/i)
  })

  it('has what is new written down: npm run generate -- contract', () => {
    expect(added).toEqual([])
  })
})

describe('a change of the contract', () => {
  const before = entriesOf(plantedOperation())
  const changed = (more: Partial<Operation>) =>
    contractChanges(before, entriesOf(plantedOperation(more)))

  it('is none where nothing changed', () => {
    expect(changed({})).toEqual({ broken: [], added: [] })
    expect(before).toEqual(
      expect.arrayContaining([
        'planted: POST /v1/auth/client/planted',
        'planted: for public',
        'planted: takes word: string',
        'planted: takes more?: integer',
        'planted: 200 said: string',
        'planted: 400 invalid_token',
      ]),
    )
  })

  it('is none where a description is new', () => {
    const document = openApiDocument({ surfaceOptions: operationOptions })
    const described: typeof document = JSON.parse(
      JSON.stringify(document).replaceAll('"type":', '"description":"Planted.","type":'),
    )
    expect(JSON.stringify(described)).toContain('Planted.')
    const without = contractEntries(operations, document)
    expect(contractEntries(operations, described)).toEqual(without)
  })

  const body = { word: z.string(), more: z.optional(z.int()) }
  const reply = { said: z.string(), at: z.optional(z.iso.datetime()) }

  it.each<readonly [string, Partial<Operation>]>([
    ['a new operation', {}],
    [
      'an optional member of the body',
      { body: z.strictObject({ ...body, x: z.optional(z.int()) }) },
    ],
    ['a member of the reply', { reply: z.strictObject({ ...reply, x: z.int() }) }],
    ['a code', { errors: ['invalid_token', 'token_expired'] }],
    ['a cookie', { cookies: { sets: ['refresh'] } }],
    ['a header', { replyHeaders: { 'X-Planted': z.string() } }],
    ['an unprefixed path', { unprefixedPath: '/v1/auth/planted' }],
    ['its deprecation', { deprecated: { since: '2026-03-01T00:00:00Z' } }],
  ])('may be %s', (_what, more) => {
    const planted = plantedOperation(more)
    const after = entriesOf(planted, plantedOperation({ id: 'second', path: '/v1/second' }))
    const changes = contractChanges(before, after)
    expect(changes.broken).toEqual([])
    expect(changes.added.length).toBeGreaterThan(0)
  })

  it.each<readonly [string, Partial<Operation>, RegExp]>([
    ['a path', { path: '/v1/auth/{surface}/moved' }, /POST \/v1\/auth\/client\/planted/],
    ['a method', { method: 'PUT' }, /POST/],
    ['a surface', { surfaces: ['operator'] }, /client/],
    ['a code', { errors: [] }, /400 invalid_token/],
    ['a status', { status: 201 }, /: 200/],
    ['who may call', { guards: [{ kind: 'public' }, { kind: 'origin' }] }, /for public/],
    ['a member of the body', { body: z.strictObject({ word: z.string() }) }, /more\?/],
    ['its type', { body: z.strictObject({ ...body, word: z.int() }) }, /word: string/],
    [
      'its bounds',
      { body: z.strictObject({ ...body, word: z.string().check(z.maxLength(9)) }) },
      /word: string/,
    ],
    [
      'its being optional',
      { body: z.strictObject({ ...body, more: z.int() }) },
      /takes more\?: integer/,
    ],
    ['a member of the reply', { reply: z.strictObject({ said: z.string() }) }, /at\?/],
    [
      'its being there always',
      { reply: z.strictObject({ ...reply, said: z.optional(z.string()) }) },
      /200 said: string/,
    ],
    [
      'what has to be sent',
      { body: z.strictObject({ ...body, demanded: z.string() }) },
      /newly demanded: planted: takes demanded/,
    ],
  ])('may not be of %s', (_what, more, told) => {
    expect(changed(more).broken).toEqual(expect.arrayContaining([expect.stringMatching(told)]))
  })

  it('may be one more form of a body that has several, and not one more member of each', () => {
    const form = (name: string) => z.strictObject({ [name]: z.string(), by: z.literal(name) })
    const two = { body: z.union([form('code'), form('link')]) }
    const three = { body: z.union([form('code'), form('link'), form('key')]) }
    const [from, to] = [two, three].map((more) => entriesOf(plantedOperation(more)))
    expect(contractChanges(from ?? [], to ?? []).broken).toEqual([])
    const demanding = z.extend(form('link'), { demanded: z.string() })
    const more = { body: z.union([form('code'), demanding]) }
    expect(contractChanges(from ?? [], entriesOf(plantedOperation(more))).broken).toEqual([
      'newly demanded: planted: takes {by: "link"} demanded: string',
    ])
  })

  it('may not be an operation less', () => {
    expect(contractChanges(before, []).broken).toHaveLength(before.length)
  })
})
