import { Agent } from 'node:http'
import type { Reply } from '../support/hosts/http-client.js'
import { rawClient } from '../support/hosts/raw-client.js'
import { type Chaos, chaosHeader } from './chaos.js'
import { aheadHeader, type Commands } from './host.js'

/** What goes with a request beside its content. */
export interface Circumstances {
  readonly chaos?: Chaos
  /** The host's clock is ahead by this many milliseconds for this request. */
  readonly aheadMs?: number
  /** The address it comes from, for hosts behind one proxy. */
  readonly from?: string
  /** The recognition cookie that goes with a refresh token, `name=value`. */
  readonly recognition?: string
}

/** The tokens of one answer. */
export interface Grant {
  readonly accessToken: string
  readonly refreshToken: string
  /** The refresh token's generation. */
  readonly generation: number
}

export interface Login extends Grant {
  readonly email: string
  readonly password: string
  readonly userId: string
  readonly sessionId: string
  /** The recognition cookie that the login set, `name=value`. */
  readonly recognition: string
}

/** A running host as its clients see it: the client surface, over HTTP. */
export interface Host {
  readonly url: string
  /** Any request; refresh tokens go in bodies. */
  send(
    method: string,
    path: string,
    given?: Circumstances & { body?: unknown; bearer?: string; cookie?: string },
  ): Promise<Reply>
  /** Has the host do something; rejects when it answers anything but 200. */
  control<C extends keyof Commands>(
    command: C,
    given: Parameters<Commands[C]>[0],
  ): ReturnType<Commands[C]>
  /** The same without a verdict. */
  tryControl<C extends keyof Commands>(
    command: C,
    given: Parameters<Commands[C]>[0],
    circumstances?: Circumstances,
  ): Promise<Reply>
  /** A new person, signed in. */
  newLogin(circumstances?: Circumstances): Promise<Login>
  refresh(refreshToken: string, circumstances?: Circumstances): Promise<Reply>
  /** `GET session`. */
  session(refreshToken: string, circumstances?: Circumstances): Promise<Reply>
  me(accessToken: string, circumstances?: Circumstances): Promise<Reply>
  logout(accessToken: string, circumstances?: Circumstances): Promise<Reply>
  /** Closes the connections kept for further requests. */
  hangUp(): void
}

const password = 'correct horse battery staple'
let people = 0

export function hostAt(url: string): Host {
  const agent = new Agent({ keepAlive: true, maxSockets: 128 })
  const raw = rawClient(url)

  const send: Host['send'] = (
    method,
    path,
    { body, bearer, cookie, chaos, aheadMs, from } = {},
  ) => {
    const { headers, ...text } = asJson(body)
    return raw(method, path, {
      agent,
      headers: {
        ...headers,
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        ...(cookie === undefined ? {} : { cookie }),
        ...(chaos === undefined ? {} : { [chaosHeader]: JSON.stringify(chaos) }),
        ...(aheadMs === undefined ? {} : { [aheadHeader]: String(aheadMs) }),
        ...(from === undefined ? {} : { 'x-forwarded-for': from }),
      },
      ...text,
    })
  }

  const at = (path: string): string => `/v1/auth/client${path}`
  const tryControl: Host['tryControl'] = (command, given, circumstances = {}) =>
    send('POST', `/control/${command}`, { body: given, ...circumstances })

  const control: Host['control'] = (async (command, given) => {
    const reply = await tryControl(command, given)
    if (reply.status !== 200) throw new Error(`${command}: ${reply.status} ${reply.text}`)
    return JSON.parse(reply.text)
  }) as Host['control']

  return {
    url,
    send,
    control,
    tryControl,
    async newLogin(circumstances = {}) {
      people += 1
      const email = `person-${process.pid}-${people}@example.org`
      const { id } = await control('createUser', { email, password })
      const body = { email, password }
      const reply = await send('POST', at('/login'), { body, ...circumstances })
      const grant = grantOf(reply)
      return {
        ...grant,
        ...body,
        userId: id,
        recognition: /__Host-cl_recognition=[^;]+/.exec(reply.setCookies.join())?.[0] ?? '',
        sessionId: String(claimsOf(grant.refreshToken)['sid']),
      }
    },
    refresh: (refreshToken, { recognition = '', ...circumstances } = {}) => {
      const cookie = `${cookieOf(refreshToken)}; ${recognition}`
      return send('POST', at('/refresh-cookie'), { cookie, ...circumstances })
    },
    session: (refreshToken, { recognition = '', ...circumstances } = {}) => {
      const cookie = `${cookieOf(refreshToken)}; ${recognition}`
      return send('GET', at('/session'), { cookie, ...circumstances })
    },
    me: (accessToken, circumstances) =>
      send('GET', at('/me'), { bearer: accessToken, ...circumstances }),
    logout: (accessToken, circumstances) =>
      send('POST', at('/logout'), { bearer: accessToken, ...circumstances }),
    hangUp: () => agent.destroy(),
  }
}

/** The tokens of a successful login or refresh; fails for any other reply. */
export function grantOf(reply: Reply): Grant {
  if (reply.status !== 200) throw new Error(`no tokens: ${reply.status} ${reply.text}`)
  const { accessToken } = reply.json()
  const refreshToken = /__Host-cl_refresh=([^;]+)/.exec(reply.setCookies.join())?.[1]
  if (typeof accessToken !== 'string' || refreshToken === undefined) {
    throw new Error(`no tokens: ${reply.text}`)
  }
  return { accessToken, refreshToken, generation: Number(claimsOf(refreshToken)['gen']) }
}

/** What a token says, unverified. */
function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
}

/** `401 session_revoked`, `200`, `200 reissued`. */
export function outcomeOf({ status, code, headers }: Reply): string {
  return [status, code ?? headers.get('x-refresh-outcome')].filter(Boolean).join(' ')
}

function cookieOf(refreshToken: string): string {
  return `__Host-cl_refresh=${refreshToken}`
}

/** With its length, which Node.js leaves out of a DELETE. */
function asJson(given: unknown): { headers: Record<string, string>; body?: string } {
  if (given === undefined) return { headers: {} }
  const body = JSON.stringify(given)
  const length = String(Buffer.byteLength(body))
  return { body, headers: { 'content-type': 'application/json', 'content-length': length } }
}
