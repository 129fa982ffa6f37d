// A host in one process, under whatever runtime runs this file: plain JavaScript, no tools.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createAuth, generateSigningKey } from 'postern'
import { fetchGuards, fetchHandler } from 'postern/fetch'
import { memory } from 'postern/memory'

const baseUrl = 'http://localhost:3000'
let deliver
const delivered = new Promise((resolve) => {
  deliver = resolve
})
const auth = await createAuth({
  backend: memory(),
  keys: { current: await generateSigningKey() },
  configKeys: [{ id: 'try', key: randomBytes(32).toString('base64') }],
  surfaces: { operator: { baseUrl }, client: { baseUrl } },
  mailer: { send: async (mail) => deliver(mail) },
})
await auth.migrate()
const handle = fetchHandler(auth.client)
const { requireUser, principalOf } = fetchGuards(auth.client)

const given = { remoteAddress: '192.0.2.1' }
// Keeps the process alive while a hash is under way: the library's own timers do not.
const alive = setInterval(() => {}, 1000)

async function send(method, path, { body, token, cookie } = {}) {
  const headers = { origin: baseUrl, 'content-type': 'application/json' }
  if (token) headers.authorization = `Bearer ${token}`
  if (cookie) headers.cookie = cookie
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
  return handle(new Request(`${baseUrl}/v1/auth/client${path}`, init), given)
}

const account = { email: 'ada@example.org', password: 'correct horse battery staple' }
const registered = await send('POST', '/register', { body: account })
assert.equal(registered.status, 201)
const cookie = registered.headers
  .getSetCookie()
  .map((line) => line.split(';')[0])
  .join('; ')
const { token } = (await delivered).data
assert.equal((await send('POST', '/email/verify', { body: { token }, cookie })).status, 200)
const login = await send('POST', '/login', { body: account })
assert.equal(login.status, 200)
const { accessToken } = await login.json()
const refresh = login.headers
  .getSetCookie()
  .map((line) => line.split(';')[0])
  .join('; ')
const renewed = await send('POST', '/refresh-cookie', { cookie: refresh })
assert.equal(renewed.headers.get('x-refresh-outcome'), 'rotated')

const guarded = async (bearer) => {
  const request = new Request(`${baseUrl}/orders`, {
    headers: { authorization: `Bearer ${bearer}` },
  })
  return (await requireUser()(request, given)) ?? principalOf(request)
}
assert.equal((await guarded('no token')).status, 401)
assert.match((await guarded(accessToken)).userId, /^[0-9a-f-]{36}$/)
assert.equal((await send('POST', '/logout', { token: accessToken })).status, 204)
assert.equal((await guarded(accessToken)).status, 401)
await auth.close()
clearInterval(alive)
console.log('registered, confirmed, signed in, refreshed, let in and signed out')
