import { Agent } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { expectHouseHeaders, expectProblem } from '../../support/hosts/expectations.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import type { Reply } from '../../support/hosts/http-client.js'
import { eachFramework } from '../../support/hosts/matrix.js'
import { type RawRequest, type RawSend, rawClient } from '../../support/hosts/raw-client.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import {
  goodPassword,
  type Person,
  type SignedIn,
  signedInPerson,
} from '../../support/people/people.js'

const limit = 64 * 1024
const json = { 'content-type': 'application/json' }
const at = (path: string): string => `/v1/auth/client${path}`

/** Valid JSON of exactly this many bytes. */
function paddedTo(bytes: number, value: unknown): Buffer {
  const text = JSON.stringify(value)
  return Buffer.from(text + ' '.repeat(bytes - Buffer.byteLength(text)))
}

/** A login that would be one, were its password text. */
function withBytes(...bytes: readonly number[]): Buffer {
  const start = Buffer.from('{"email":"nobody@example.org","password":"')
  return Buffer.from([...start, ...bytes, ...Buffer.from('"}')])
}

eachFramework.describe('request bodies', ({ start }) => {
  let host: ContractHost
  let raw: RawSend
  let bob: Person & SignedIn
  let nobody: { email: string; password: string }

  beforeAll(async () => {
    host = await start(withoutLimits)
    raw = rawClient(host.url)
    bob = await signedInPerson(host, 'client')
    nobody = { email: 'nobody@example.org', password: goodPassword }
  })
  afterAll(() => host.close())

  const post = (path: string, body: NonNullable<RawRequest['body']>, headers: object = json) =>
    raw('POST', at(path), { headers: { ...headers }, body })

  async function nameOfBob(): Promise<unknown> {
    return (await host.send('GET', at('/me'), { bearer: bob.bearer })).json()['name']
  }

  it.each([
    ['nothing at all', ''],
    ['half an object', '{"email":"a@example.org"'],
    ['a bare word', 'nul'],
    ['a trailing comma', '{"email":"a@example.org","password":"x",}'],
    ['single quotes', "{'email':'a@example.org'}"],
    ['two values', '{}{}'],
    ['NaN', '{"email":NaN}'],
    ['an array', '[]'],
    ['an array of one', '[{"email":"a@example.org","password":"x"}]'],
    ['null', 'null'],
    ['a string', '"email"'],
    ['a number', '1'],
    ['true', 'true'],
    ['an empty object', '{}'],
    ['thirty thousand arrays', '['.repeat(30_000) + ']'.repeat(30_000)],
    ['thirty thousand open objects', '{"a":'.repeat(12_000)],
    ['a foreign byte', withBytes(0xff)],
    ['an overlong slash', withBytes(0xc0, 0xaf)],
    ['a lone continuation byte', withBytes(0x80)],
    ['half a character', withBytes(0xf0, 0x9f)],
    ['a surrogate in UTF-8', withBytes(0xed, 0xa0, 0x80)],
    ['UTF-16', Buffer.from(JSON.stringify({ email: 'a@example.org', password: 'x' }), 'utf16le')],
  ])('answers 400 for %s', async (_what, body) => {
    expectProblem(await post('/login', body), 400, 'invalid_request')
  })

  it.each(
    [null, 1, true, [], ['a@example.org'], {}, { $ne: '' }, '', 'a'.repeat(5000)].map((value) => ({
      value,
    })),
  )('answers 400 for $value in the place of any text', async ({ value }) => {
    for (const member of ['email', 'password']) {
      const reply = await host.send('POST', at('/login'), { body: { ...nobody, [member]: value } })
      expectProblem(reply, 400, 'invalid_request')
    }
    const name = await host.send('POST', at('/register'), { body: { ...nobody, name: [value] } })
    expectProblem(name, 400, 'invalid_request')
  })

  it.each(['\ud800', '\udfff\ud800'])(
    'answers 400 for text no store can hold: %j',
    async (name) => {
      const body = JSON.stringify({ name })
      const headers = { ...json, authorization: `Bearer ${bob.bearer}` }
      expectProblem(await raw('PATCH', at('/me'), { headers, body }), 400, 'invalid_request')
      expect(await nameOfBob()).toBe('Ada')
    },
  )

  it.each([
    ['twice in a row', '{"name":"Mallory","name":"Ada"}'],
    ['spelled with an escape', '{"name":"Mallory","n\\u0061me":"Ada"}'],
    ['of the same value', '{"name":"Mallory","name":"Mallory"}'],
    ['in an unknown object', '{"name":"Mallory","x":{"a":1,"a":1}}'],
  ])('answers 400 for a member %s', async (_what, body) => {
    const headers = { ...json, authorization: `Bearer ${bob.bearer}` }
    const reply = await raw('PATCH', at('/me'), { headers, body })
    expectProblem(reply, 400, 'invalid_request')
    if (!body.includes('"x"')) expect(reply.json()['detail']).toMatch(/twice/)
    expect(await nameOfBob()).toBe('Ada')
  })

  it('takes a text for no member, whatever it looks like', async () => {
    const names = ['a":"b', 'a\\', '","name":"', '{"a":1,"a":2}', ':::', '\\":\\"']
    const headers = { ...json, authorization: `Bearer ${bob.bearer}` }
    for (const name of [...names, 'Ada']) {
      const reply = await raw('PATCH', at('/me'), { headers, body: JSON.stringify({ name }) })
      expect([reply.status, reply.json()['name']]).toEqual([200, name])
    }
  })

  it.each([
    ['a NUL', 'a\0b'],
    ['a line separator', 'Ada\u2028Admin'],
    ['a paragraph separator', 'Ada\u2029Admin'],
    ['a line break', 'Ada\nAdmin'],
    ['NEL', 'Ada\u0085Admin'],
    ['an override of direction', 'Ada\u202enimdA'],
    ['an isolate', 'Ada\u2066x\u2069'],
    ['a mark of direction', 'Ada\u200f'],
  ])('takes a name with %s, and keeps it without', async (_what, name) => {
    const kept = name.replace(/[\n\u0085\u2028\u2029]/u, ' ').replace(/[\0\p{Bidi_Control}]/gu, '')
    const headers = { ...json, authorization: `Bearer ${bob.bearer}` }
    const reply = await raw('PATCH', at('/me'), { headers, body: JSON.stringify({ name }) })
    expect([reply.status, reply.json()['name'], await nameOfBob()]).toEqual([200, kept, kept])
    const { users } = host.auth.client
    const email = `line-${crypto.randomUUID()}@example.org`
    expect((await users.create({ email, name })).name).toBe(kept)
    await raw('PATCH', at('/me'), { headers, body: '{"name":"Ada"}' })
  })

  it('takes names of every script', async () => {
    const headers = { ...json, authorization: `Bearer ${bob.bearer}` }
    for (const name of ['أحمد بن علي', 'יעל', 'می\u200cخواهم', '👩\u200d💻', '名前', 'Ada']) {
      const reply = await raw('PATCH', at('/me'), { headers, body: JSON.stringify({ name }) })
      expect([reply.status, reply.json()['name']]).toEqual([200, name])
    }
  })

  it('answers 400 for members it does not know, and stores nothing', async () => {
    const email = 'mallory@example.org'
    const members = [
      '"systemRole":"super_admin"',
      '"kind":"service"',
      '"emailVerified":true',
      '"__proto__":{"systemRole":"super_admin"}',
      '"constructor":{"prototype":{}}',
      '"toString":1',
      '"Email":"a@example.org"',
      '"":0',
    ]
    for (const member of members) {
      const body = `{"email":"${email}","password":"${goodPassword}",${member}}`
      expectProblem(await post('/register', body), 400, 'invalid_request')
    }
    expect(await host.auth.client.users.findByEmail(email)).toBeNull()
    expect(host.mailer.count(email)).toBe(0)

    for (const member of [...members, '"enabled":false', `"email":"${email}"`]) {
      const headers = { ...json, authorization: `Bearer ${bob.bearer}` }
      const body = `{"name":"Mallory",${member}}`
      expectProblem(await raw('PATCH', at('/me'), { headers, body }), 400, 'invalid_request')
    }
    expect(await nameOfBob()).toBe('Ada')
    expect(Reflect.get({}, 'systemRole')).toBeUndefined()
  })

  it('repeats nothing of what was sent in a refusal', async () => {
    const body = { email: 'a@example.org', password: { secret: 'hunter2' }, 'my-secret': 'hunter2' }
    const reply = await host.send('POST', at('/login'), { body })
    expectProblem(reply, 400, 'invalid_request')
    expect(reply.text).not.toMatch(/hunter2|my-secret/)
  })

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/octet-stream',
    'application/jsonp',
    'application/json-patch+json',
    'text/json',
    'Application/JSON ;x=1',
    'application/json; charset=utf-16',
    'application/json; charset=iso-8859-1',
    'application/json, text/plain',
    'json',
    '*/*',
    '',
    null,
  ])('answers 415 for content of type %j, and does nothing', async (type) => {
    const headers = type === null ? {} : { 'content-type': type }
    const { email, password } = bob
    const sent: [string, object][] = [
      ['/login', { email, password }],
      ['/mobile/login', { email, password }],
      ['/register', { email: 'form@example.org', password }],
      ['/refresh', { refreshToken: bob.refreshToken }],
      ['/refresh-cookie', {}],
      ['/logout', { everywhere: true }],
    ]
    for (const [path, body] of sent) {
      const cookie = { cookie: bob.cookie }
      const reply = await post(path, JSON.stringify(body), { ...headers, ...cookie })
      expectProblem(reply, 415, 'unsupported_media_type')
      expect(reply.setCookies).toEqual([])
    }
    expect(await host.auth.client.users.findByEmail('form@example.org')).toBeNull()
    const still = await host.send('GET', at('/session'), { cookie: bob.cookie })
    expect(still.status).toBe(200)
  })

  it.each([
    'application/json',
    'APPLICATION/JSON',
    'application/json;charset=utf-8',
    'application/json; charset=UTF-8',
    'application/json; charset="utf-8"',
  ])('takes JSON called %s', async (type) => {
    const reply = await post('/login', JSON.stringify(nobody), { 'content-type': type })
    expectProblem(reply, 401, 'invalid_credentials')
  })

  it('wants JSON where a body is needed and none came', async () => {
    expectProblem(await raw('POST', at('/login')), 415, 'unsupported_media_type')
    const headers = { 'content-type': 'text/plain' }
    expectProblem(await raw('POST', at('/login'), { headers }), 415, 'unsupported_media_type')
    expectProblem(await raw('POST', at('/login'), { headers: json }), 400, 'invalid_request')
  })

  it.each([null, 'application/json', 'text/plain', 'application/x-www-form-urlencoded'])(
    'takes no body with content type %j where none is needed',
    async (type) => {
      const carol = await signedInPerson(host, 'client')
      const headers = { ...(type === null ? {} : { 'content-type': type }) }
      const cookie = { ...headers, cookie: carol.cookie }
      const refreshed = await raw('POST', at('/refresh-cookie'), { headers: cookie })
      expect(refreshed.status, refreshed.text).toBe(200)
      const bearer = { ...headers, authorization: `Bearer ${carol.bearer}` }
      expect((await raw('POST', at('/logout'), { headers: bearer })).status).toBe(204)
    },
  )

  it('takes 64 KiB and refuses one byte more', async () => {
    expectProblem(await post('/login', paddedTo(limit, nobody)), 401, 'invalid_credentials')
    const over = paddedTo(limit + 1, nobody)
    expectProblem(await post('/login', over), 413, 'payload_too_large')
    expectProblem(
      await post('/login', over, { 'content-type': 'text/plain' }),
      413,
      'payload_too_large',
    )
  })

  it('takes 64 KiB in pieces without a length and refuses one byte more', async () => {
    const pieces = (bytes: number): Buffer[] => {
      const whole = paddedTo(bytes, nobody)
      return [whole.subarray(0, 10), whole.subarray(10, 40_000), whole.subarray(40_000)]
    }
    expectProblem(await post('/login', pieces(limit)), 401, 'invalid_credentials')
    expectProblem(await post('/login', pieces(limit + 1)), 413, 'payload_too_large')
    const carol = await signedInPerson(host, 'client')
    const headers = { ...json, cookie: carol.cookie }
    expectProblem(
      await post('/refresh-cookie', pieces(limit + 1), headers),
      413,
      'payload_too_large',
    )
    expect((await host.send('GET', at('/session'), { cookie: carol.cookie })).status).toBe(200)
  })

  it('answers 413 while far more is still coming', async () => {
    const piece = Buffer.alloc(128 * 1024, ' ')
    const replies: Reply[] = [
      await post('/login', new Array<Buffer>(64).fill(piece)),
      await post('/login', Buffer.alloc(8 * 1024 * 1024, ' ')),
    ]
    for (const reply of replies) expectProblem(reply, 413, 'payload_too_large')
    expect((await host.send('GET', at('/jwks'))).status).toBe(200)
  })

  it('keeps the connection usable after a refused body', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const piece = Buffer.alloc(128 * 1024, ' ')
    for (const body of [[piece, piece, piece, piece], piece]) {
      const refused = await raw('POST', at('/login'), { headers: json, body, agent })
      expectProblem(refused, 413, 'payload_too_large')
      expect((await raw('GET', at('/jwks'), { agent })).status).toBe(200)
    }
    agent.destroy()
  })

  it('asks who is there before it looks at what was sent', async () => {
    for (const body of ['nope', '{}', 'x'.repeat(70_000)]) {
      expectProblem(await raw('PATCH', at('/me'), { headers: json, body }), 401)
    }
    const reply = await raw('GET', at('/me'), {
      headers: { authorization: `Bearer ${bob.bearer}` },
    })
    expectHouseHeaders(reply)
    expect(await nameOfBob()).toBe('Ada')
  })
})
