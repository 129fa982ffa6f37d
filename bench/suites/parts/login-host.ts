import type { Child } from '../../harness/child.js'
import type { Context } from '../../harness/context.js'
import {
  type HttpClient,
  type HttpReply,
  httpClient,
  requestBytes,
} from '../../harness/http-client.js'
import type { Measured } from '../../harness/rounds.js'
import { quantile } from '../../harness/statistics.js'

interface Served {
  readonly port: number
  readonly login: { readonly path: string; readonly headers: Readonly<Record<string, string>> }
  readonly bodies: readonly unknown[]
  readonly me: Readonly<Record<string, string>>
}

/** A host that signs people in, and has one protected route. */
export interface LoginHost {
  readonly child: Child<Served>
  readonly logins: HttpClient
  readonly others: HttpClient
}

export interface LoginKind {
  readonly kind: 'postern' | 'hand-made' | 'better-auth'
  readonly binding?: string
  readonly concurrency?: number
}

/** Null where there is no Postgres. */
export async function loginHostOf(
  context: Context,
  kind: LoginKind,
  env: Readonly<Record<string, string>> = {},
): Promise<LoginHost | null> {
  const database = await context.database()
  if (database === null) return null
  const child = await context.start<Served>(
    'login.mjs',
    { ...kind, people: context.smoke ? 2 : 64, key: context.key, url: database.url },
    { env, execArgv: ['--expose-gc'] },
  )
  const { port } = child.ready
  return { child, logins: httpClient(port), others: httpClient(port) }
}

export async function stopHost({ child, logins, others }: LoginHost): Promise<void> {
  logins.close()
  others.close()
  await child.stop()
}

let addresses = 0

/** Each login comes from an address of its own, so that no limit per address is met. */
export function loginBytes({ child }: LoginHost, request: number): Buffer {
  const { login, bodies } = child.ready
  addresses += 1
  const address = `10.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`
  const headers = { ...login.headers, 'x-forwarded-for': address }
  return requestBytes('POST', login.path, headers, bodies[request % bodies.length])
}

export function mustSucceed({ status, body }: HttpReply): void {
  if (status !== 200) throw new Error(`a request was answered with ${status}: ${body}`)
}

/** A login that waits for its hash for two seconds is told to come back. */
export function isTooBusy({ status, body }: HttpReply): boolean {
  return status === 503 && body.includes('server_busy')
}

export async function signInOneByOne(host: LoginHost, requests: number): Promise<Measured> {
  const before = await host.child.cpu()
  const { milliseconds } = await host.logins.slice({
    requests,
    connections: 1,
    next: (_, request) => loginBytes(host, request),
    seen: mustSucceed,
  })
  const cpu = ((await host.child.cpu()) - before) / 1000 / requests
  return { cpu, latency: quantile(milliseconds, 0.5) }
}
