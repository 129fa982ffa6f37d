import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, it } from 'vitest'
import { registrationCookieOf } from '../people/registration-steps.js'
import { type ExampleHost, firstOperator, issuer } from './example-host.js'
import { type Reply, refreshCookieOf, type Send, textOf } from './http-client.js'
import type { StartedProgram } from './started-program.js'

const password = 'correct horse battery staple'

/** How a process ends. */
interface Ending {
  readonly exitCode: number
  /** Printed when the library is closed, which it is before the last reply; null where that comes after it. */
  readonly closes: RegExp | null
}

/** What every host of `examples` is asked over HTTP, in this order; the last probe ends it. */
export function probeExample(
  host: () => ExampleHost,
  how: Ending = { exitCode: 0, closes: null },
): void {
  it('a user registers, is let in, refreshes and signs out', () => main(host()))
  it('machines find the token endpoint', () => metadata(host()))
  it('what is wrong with a request is said, and nothing else', () => refusals(host()))
  it('SIGTERM lets a request under way finish, cuts off one that hangs, and ends the process', () =>
    ending(host(), how))
}

async function main(host: ExampleHost): Promise<void> {
  const { program, send } = host
  const outcome = async (method: string, path: string, given: object = {}) =>
    outcomeOf(await send.client(method, path, given))
  const ada = await registeredAt(program, send.client, 'grace@example.org')
  const login = await send.client('POST', '/v1/auth/client/login', { body: ada })
  const bearer = textOf(login.json(), 'accessToken')
  const { id } = (await send.client('GET', '/v1/auth/client/me', { bearer })).json()

  expect(await outcome('GET', '/reports')).toBe('401')
  expect(await outcome('GET', '/reports', { bearer: 'forged' })).toBe('401')
  expect(await outcome('GET', '/reports', { bearer })).toBe('403 permission_denied')
  await letIn(host, textOf({ id }, 'id'), bearer)
  const reports = await send.client('GET', '/reports', { bearer })
  expect([reports.status, reports.json()['reader']]).toEqual([200, id])

  const refresh = { cookie: refreshCookieOf(login, 'client') }
  const rotated = await send.client('POST', '/v1/auth/refresh-cookie', refresh)
  expect([rotated.status, rotated.headers.get('x-refresh-outcome')]).toEqual([200, 'rotated'])
  const next = textOf(rotated.json(), 'accessToken')
  expect(await outcome('GET', '/reports', { bearer: next })).toBe('200')
  expect(await outcome('POST', '/v1/auth/client/logout', { bearer: next })).toBe('204')
  expect(await outcome('GET', '/reports', { bearer: next })).toBe('401 session_revoked')
}

/** Registers on the client surface, and follows the link of the mail that the host prints. */
export async function registeredAt(program: StartedProgram, send: Send, email: string) {
  const body = { email, password }
  const registered = await send('POST', '/v1/auth/client/register', { body })
  expect(registered.status).toBe(201)
  const [, token] = await program.printed(new RegExp(`^mail .*"${email}".*"token":"([^"]+)"`, 'm'))
  const cookie = registrationCookieOf(registered) ?? ''
  const verified = await send('POST', '/v1/auth/client/email/verify', { body: { token }, cookie })
  expect(verified.status).toBe(200)
  return body
}

/** The first operator does so, after a second factor. */
async function letIn({ send, port }: ExampleHost, userId: string, client: string): Promise<void> {
  const login = await send.operator('POST', '/v1/auth/operator/login', { body: firstOperator })
  const bearer = textOf(login.json(), 'accessToken')
  const totp = '/v1/auth/operator/mfa/totp'
  const share = async (body: unknown, by = bearer) => {
    const reply = await send.operator('POST', '/reports/readers', { body, bearer: by })
    expectNothingLeaked(reply)
    return outcomeOf(reply)
  }
  expect(await share({ userId }, client)).toBe('401 audience_mismatch')
  expect(await share({ userId })).toBe('403 mfa_enrollment_required')
  const given = { bearer, body: { currentPassword: firstOperator.password } }
  const { secret } = (await send.operator('POST', totp, given)).json()
  const { generateSync } = await import('otplib')
  const code = generateSync({ secret: textOf({ secret }, 'secret') })
  const confirmed = await send.operator('POST', `${totp}/confirm`, { bearer, body: { code } })
  const [backupCode] = (confirmed.json() as { backupCodes: readonly string[] }).backupCodes
  expect(await share({ userId })).toBe('403 step_up_required')
  const proof = { method: 'backupCode', code: backupCode }
  const proved = await send.operator('POST', '/v1/auth/operator/step-up', { bearer, body: proof })
  expect(proved.status).toBe(200)
  expect(await share('{"userId":')).toMatch(/^400/)
  expect(await share({ userId: 1 })).toBe('400 invalid_request')
  expect(await share({ userId: '00000000-0000-4000-8000-000000000000' })).toBe('404 user_not_found')
  expect(await share({ userId: 'a'.repeat(70_000) })).toMatch(/^413/)
  expect(await share({ userId })).toBe('204')

  // Let in before the body came, and with no factor any more once it is there.
  const body = JSON.stringify({ userId })
  const late = await heldBack(port, { path: '/reports/readers', host: 'operator', bearer, body })
  expect((await send.operator('DELETE', totp, { bearer })).status).toBe(204)
  expect(await late.send('HTTP/1.1 ')).toContain('HTTP/1.1 403')
}

interface HeldBack {
  readonly socket: Socket
  /** Sends the body. Resolves with what came until this text did. */
  send(awaited: string): Promise<string>
}

/** A request whose server has the head, and says that it waits for the body. */
async function heldBack(
  port: number,
  { path, host, bearer, body }: Readonly<Record<'path' | 'host' | 'bearer' | 'body', string>>,
): Promise<HeldBack> {
  const socket = await opened(port)
  const head = [
    `POST ${path} HTTP/1.1`,
    `host: ${host}.example.com`,
    `x-forwarded-host: ${host}.example.com`,
    'x-forwarded-for: 192.0.2.7',
    'connection: close',
    ...(bearer === '' ? [] : [`authorization: Bearer ${bearer}`]),
    'content-type: application/json',
    `content-length: ${body.length}`,
    'expect: 100-continue',
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  await heard(socket, '100 Continue')
  return {
    socket,
    async send(awaited) {
      socket.write(body)
      return heard(socket, awaited)
    },
  }
}

async function metadata({ send }: ExampleHost): Promise<void> {
  const reply = await send.operator('GET', '/.well-known/oauth-authorization-server')
  expect(reply.status).toBe(200)
  expect(reply.json()).toMatchObject({ issuer, token_endpoint: `${issuer}/v1/auth/oauth2/token` })
}

async function refusals({ send }: ExampleHost): Promise<void> {
  const login = '/v1/auth/client/login'
  const cases = [
    ['GET', '/nothing', undefined, /^404/],
    ['POST', '/nothing', '{"a":', /^40[04]/],
    ['GET', '/v1/auth/client/nothing', undefined, /^404 not_found$/],
    ['PUT', login, {}, /^405 method_not_allowed$/],
    ['DELETE', '/.well-known/oauth-authorization-server', undefined, /^405 method_not_allowed$/],
    ['POST', login, { email: 'a'.repeat(70_000) }, /^413 payload_too_large$/],
    ['POST', login, '{"email":', /^400 invalid_request$/],
    ['GET', '/%zz', undefined, /^40[04]/],
  ] as const
  for (const [method, path, body, expected] of cases) {
    const reply = await send.client(method, path, { body })
    expect([path, outcomeOf(reply)]).toEqual([path, expect.stringMatching(expected)])
    expectNothingLeaked(reply)
  }
}

async function ending({ program, port }: ExampleHost, { exitCode, closes }: Ending): Promise<void> {
  const idle = await opened(port)
  idle.write('GET /v1/auth/client/options HTTP/1.1\r\nhost: client.example.com\r\n\r\n')
  await heard(idle, '"registrationOpen"')
  const body = JSON.stringify({ email: 'stranger@example.org', password })
  const login = { path: '/v1/auth/client/login', host: 'client', bearer: '', body }
  const busy = await heldBack(port, login)
  // Its body never comes. Next.js has a limit of its own, which is longer.
  const stuck = closes === null ? await heldBack(port, login) : busy
  program.signal('SIGTERM')
  await expect.poll(() => isRefused(port)).toBe(true)
  if (closes !== null) await program.printed(closes)
  expect(await busy.send('"invalid_credentials"')).toContain('HTTP/1.1 401')
  expect(await program.ended()).toBe(exitCode)
  const sockets = [idle, busy.socket, stuck.socket]
  await expect.poll(() => sockets.map(({ closed }) => closed)).toEqual([true, true, true])
}

function outcomeOf({ status, code }: Reply): string {
  return typeof code === 'string' ? `${status} ${code}` : String(status)
}

/** Where the host's own code lies, and how it failed, is nothing for a caller. */
function expectNothingLeaked({ text, headers }: Reply): void {
  expect(text).not.toMatch(/\bat .*:\d+:\d+|node_modules|\.ts\b|\/tmp\/|SyntaxError|TypeError/)
  expect(headers.get('x-powered-by')).toBeNull()
}

async function opened(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

/** What came until this did; fails when the connection is closed before. */
async function heard(socket: Socket, text: string): Promise<string> {
  let all = ''
  while (!all.includes(text)) {
    if (socket.closed) throw new Error(`closed after ${all}`)
    const [chunk] = await Promise.race([once(socket, 'data'), once(socket, 'close')])
    if (!(chunk instanceof Uint8Array)) throw new Error(`closed after ${all}`)
    all += Buffer.from(chunk).toString()
  }
  return all
}

/** Whether no new connection is taken any more. */
async function isRefused(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const refused = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(false))
    socket.once('error', () => resolve(true))
  })
  socket.destroy()
  return refused
}
