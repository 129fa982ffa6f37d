// A host of one framework, in a process of its own: what it holds at the end is the library's and the framework's alone.
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { getRequestListener } from '@hono/node-server'
import { fetchHandler } from '../../../adapters/fetch.js'
import { sqlite } from '../../../adapters/sqlite/index.js'
import { createAuth } from '../../../src/create-auth.js'
import { generateSigningKey } from '../../../src/crypto/key-ring.js'
import type { ExchangeRequest, Mountable } from '../../../src/http/http-message.js'
import { frameworks } from '../../support/hosts/frameworks.js'
import { listen } from '../../support/hosts/running-host.js'
import { cheapHash } from '../../support/hosts/test-auth.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { goodPassword } from '../../support/people/people.js'
import type { HostMessage, Known, Measured } from './messages.js'

/** In the fetch framework, `null` is a path that the library does not serve. */
const served = {
  express: frameworks.express,
  fastify: frameworks.fastify,
  koa: frameworks.koa,
  async fetch(mountable: Mountable) {
    const handle = fetchHandler(mountable)
    const answer = getRequestListener(async (request) => {
      const response = await handle(request, { remoteAddress: '127.0.0.1' })
      return response ?? new Response('host page', { status: 404 })
    })
    return listen(createServer((request, response) => void answer(request, response)))
  },
} as const

const counts = { requests: 0, parsed: 0, errors: 0 }

/** Counts a request once one of the library's parsers was given something of it. */
function watched(request: ExchangeRequest): ExchangeRequest {
  let isParsed = false
  const note = () => {
    if (!isParsed) counts.parsed += 1
    isParsed = true
  }
  return {
    method: request.method,
    path: request.path,
    remoteAddress: request.remoteAddress,
    get query() {
      if (request.query !== '') note()
      return request.query
    },
    header(name) {
      const value = request.header(name)
      if (value !== undefined && (name === 'authorization' || name === 'cookie')) note()
      return value
    },
    async body(maxBytes, inTime) {
      const body = await request.body(maxBytes, inTime)
      if (body.kind === 'bytes') note()
      return body
    },
  }
}

const silent = () => {}
// What is stored lies in SQLite's own memory, and so not on the heap that is measured.
const auth = await createAuth({
  backend: sqlite(new DatabaseSync(':memory:')),
  keys: { current: await generateSigningKey() },
  configKeys: [{ id: 'test', key: randomBytes(32).toString('base64') }],
  surfaces: {
    operator: { ...withoutLimits.surfaces.operator, hosts: ['127.0.0.1'] },
    client: { ...withoutLimits.surfaces.client, hosts: ['127.0.0.1'] },
  },
  settings: { ...withoutLimits.settings, registrationOperatorEnabled: true },
  mailer: { send: async () => {} },
  authorizer: { check: async ({ kind }) => kind === '' },
  hash: cheapHash,
  trustProxy: 1,
  env: {},
  logger: {
    debug: silent,
    info: silent,
    warn: silent,
    error: (message, fields) => {
      counts.errors += 1
      console.error(message, fields)
    },
  },
})
await auth.migrate()

const mountable: Mountable = {
  paths: auth.both.paths,
  handle(request) {
    counts.requests += 1
    return auth.both.handle(watched(request))
  },
}
const framework = process.argv[2] ?? ''
const serve = Object.entries(served).find(([name]) => name === framework)?.[1]
if (serve === undefined) throw new Error(`no framework ${framework}`)
const { url } = await serve(mountable)

/** Signs a new person in, since tokens expire in the middle of a long run. */
async function knownOn(surface: 'operator' | 'client'): Promise<Known[typeof surface]> {
  const email = `ada-${randomBytes(6).toString('hex')}@example.org`
  const account = { email, password: goodPassword }
  await auth[surface].users.create({ ...account, name: 'Ada', emailVerified: true })
  const response = await fetch(`${url}/v1/auth/${surface}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(account),
  })
  const { accessToken }: { accessToken: string } = JSON.parse(await response.text())
  const cookie = response.headers.getSetCookie().map((line) => line.split(';')[0] ?? '')
  return { email, bearer: accessToken, cookie: cookie.join('; ') }
}

/** What lives once everything that can go is gone. */
async function measured(): Promise<Measured> {
  for (let round = 0; round < 10; round += 1) {
    // What is finalized lets go of more in a later turn.
    await setTimeout(20)
    global.gc?.()
  }
  return { ...counts, heap: process.memoryUsage().heapUsed }
}

/**
 * A library is loaded by the first request that needs it, and stays. Asks for each once, so that the heap which is
 * measured first has them all: passkeys, authenticator apps, the list of common passwords, domains of any script.
 */
async function loadLibraries(): Promise<void> {
  const { bearer } = await knownOn('client')
  const post = async (path: string, body: object) => {
    const response = await fetch(`${url}/v1/auth/client/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${bearer}` },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path} answered ${response.status}`)
  }
  await post('register', { email: 'ada@b\u00fccher.example', password: goodPassword, name: 'Ada' })
  await post('webauthn/registration/options', { currentPassword: goodPassword })
  await post('mfa/totp', { currentPassword: goodPassword })
}

const tell = (message: HostMessage) => process.send?.(message)

async function answer(asked: unknown): Promise<void> {
  if (asked === 'measure') tell({ measured: await measured() })
  else tell({ known: { operator: await knownOn('operator'), client: await knownOn('client') } })
}

// What fails here ends the process, which the test sees.
process.on('message', (asked) => void answer(asked))
await loadLibraries()
tell({ url })
