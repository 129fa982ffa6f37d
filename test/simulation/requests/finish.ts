import { claimsOf } from '../claims-of.js'
import type { Beginning } from '../decision.js'
import type { Exchange } from '../history.js'
import { stateIn } from '../shop.js'
import { type Credential, keepSecret, type Person, type World } from '../world.js'
import type { Reply } from './send.js'

interface Grant {
  readonly accessToken?: string
  readonly refreshToken?: string
  readonly recognitionId?: string
  readonly mfaToken?: string
  readonly registrationKey?: string
  readonly code?: string
}

interface Finished {
  readonly exchange: Exchange
  readonly beginning: Beginning
  readonly reply: Reply
}

/** A reply arrives. */
export function finish(world: World, who: Person, { exchange, beginning, reply }: Finished): void {
  const { status, body, cookies } = reply
  if (world.step >= world.steps) return
  const told: Grant = body ? JSON.parse(body) : {}
  const cookie = refreshCookieOf(cookies)
  Object.assign(exchange, {
    ended: world.step,
    endedAt: world.clock.now(),
    status,
    code: told.code ?? '',
    body: body ?? '',
    issued: claimsOf(told.refreshToken ?? cookie?.slice(cookie.indexOf('=') + 1) ?? ''),
    // What was not answered in time may be carried out later.
    struck: exchange.struck || status >= 500,
  })
  world.tell(`${beginning.request} ${status} ${exchange.code} ${exchange.issued?.jti ?? ''}`)
  exchange.lost = beginning.loses === true && status === 200
  if (!exchange.lost) {
    keep(world, who, { exchange, told, body })
    keepCookies(who, cookies)
  }
  remember(who, exchange)
  // An owner asks a few times more with what was ended, as an app does that was not told.
  const isOut = !exchange.foreign && exchange.session !== '' && (status === 401 || status === 403)
  if (isOut && beginning.forgets) who.session = ''
}

interface Kept {
  readonly exchange: Exchange
  readonly told: Grant
  readonly body: string | null
}

/** Takes over what a reply brings. */
function keep(world: World, who: Person, { exchange, told, body }: Kept): void {
  const { operation, status } = exchange
  if (told.accessToken && told.refreshToken) {
    who.refresh = told.refreshToken
    who.session = exchange.issued?.sid ?? ''
    who.ticket = ''
  }
  who.access = told.accessToken ?? who.access
  who.recognition = told.recognitionId ?? who.recognition
  who.ticket = told.mfaToken ?? told.registrationKey ?? who.ticket
  if (operation === 'second' && told.code === 'mfa_ticket_invalid') who.ticket = ''
  keepOfMachine(world, who, exchange)
  if (exchange.edit !== null && status === 200) who.revision = stateIn(body ?? '').revision
  if (operation === 'issueSecret' && status === 201) {
    const issued: Credential = JSON.parse(body ?? '')
    world.machine.credentials.push(issued)
    keepSecret(world, 'machine', issued.clientSecret)
  }
}

function keepCookies({ jar }: Person, cookies: readonly string[]): void {
  jar.cookie = refreshCookieOf(cookies) ?? jar.cookie
  jar.recognition = /__Host-cl_recognition=[^;]+/.exec(cookies.join())?.[0] ?? jar.recognition
}

/** What a machine, and what its administrator, learns. */
function keepOfMachine(
  { machine: { credentials } }: World,
  who: Person,
  { operation, status, spends }: Exchange,
): void {
  const isRefused = status === 401
  if (isRefused && (operation === 'grant' || operation === 'machineMe')) who.access = ''
  if (isRefused && operation === 'grant' && who.kind === 'machine') {
    who.credential = credentials.at(-1) ?? null
  }
  if (operation === 'revokeSecret' && status === 204) {
    const at = credentials.findIndex(({ credentialId }) => credentialId === spends)
    if (at >= 0) credentials.splice(at, 1)
  }
}

/** The name and value; an empty text where the browser is told to forget it, null where nothing is said of it. */
function refreshCookieOf(cookies: readonly string[]): string | null {
  const line = cookies.find((cookie) => cookie.startsWith('__Host-cl_refresh='))
  if (line === undefined) return null
  const [pair = ''] = line.split(';')
  return pair.endsWith('=') ? '' : pair
}

const mostRemembered = 6

/** The owner remembers what was set, and what may have been. */
function remember({ owner }: Person, { operation, status, sets, foreign }: Exchange): void {
  const { passwords } = owner
  if (foreign) return
  const isLogin = operation === 'login' || operation === 'tabLogin'
  if (isLogin && status === 401) passwords.push(passwords.shift() ?? '')
  if (sets === '' || (status >= 400 && status < 500)) return
  passwords.splice(status >= 200 && status < 300 ? 0 : 1, 0, sets)
  passwords.splice(mostRemembered)
}
