import type { Reply } from '../support/hosts/http-client.js'
import type { FamilyCall, FamilyOp, FamilyResult, FamilyRules } from './family-model.js'
import { type Grant, grantOf, type Host, type Login } from './host-client.js'
import { type ClockLine, shownBy } from './moving-clock.js'
import { randomOf } from './random-of.js'

/** How one history comes about. */
export interface HistoryPlan {
  readonly seed: string
  /** Hosts that share one backend; every call goes to one of them. */
  readonly hosts: readonly Host[]
  /** What the hosts' clocks show. */
  readonly line: ClockLine
  readonly graceMs: number
  /** The share of calls to the backend that fail. */
  readonly faultRate: number
  /** Longer than the hosts wait for the backend. */
  readonly lateMs: number
}

export interface History {
  readonly rules: FamilyRules
  readonly calls: readonly FamilyCall[]
}

const clients = 8
const delayMs = 20
const hour = 3_600_000

const endings = ['logout', 'logoutEverywhere', 'terminate', 'terminateAll', 'disable'] as const

/** What the clients of one history know and how they behave. */
interface Family {
  readonly plan: HistoryPlan
  readonly random: () => number
  readonly login: Login
  /** Refresh tokens received, oldest first. */
  readonly grants: Grant[]
  readonly accessTokens: string[]
  readonly calls: FamilyCall[]
  readonly length: number
  /** When the session, and with it every access token of it, is over. */
  readonly capAt: number
  /** The call from which on the session may be ended; beyond the last for one that is not. */
  readonly endFrom: number
  /** How likely a client is to keep its hands off a token that another one is using. */
  readonly care: number
  /** How likely a client is to show a token that is not the newest. */
  readonly staleness: number
  /** How likely a request is to bring the recognition id of the login. */
  readonly known: number
  sent: number
  refreshing: number
}

/** Eight clients make 40 to 60 calls on one login, all of its own, at once. */
export async function runHistory(plan: HistoryPlan): Promise<History> {
  const random = randomOf(plan.seed)
  const length = 40 + Math.floor(random() * 21)
  const isOld = random() < 1 / 3
  const { login, capAt } = await openFamily(plan, random, isOld)
  const family: Family = {
    plan,
    random,
    login,
    grants: [login],
    accessTokens: [login.accessToken],
    calls: [],
    length,
    capAt,
    endFrom: isOld ? length : Math.floor(length * (0.5 + random() * 0.6)),
    care: pick(random, plan.graceMs > 0 ? [0, 0.5, 0.9] : [0.5, 0.9, 1]),
    staleness: isOld ? 0 : pick(random, [0.02, 0.1]),
    known: pick(random, [0, 0.9, 1]),
    sent: 0,
    refreshing: 0,
  }
  await Promise.all(Array.from({ length: clients }, () => client(family)))
  const rules = { graceMs: plan.graceMs, capAt, generation: login.generation }
  return { rules, calls: family.calls }
}

/** A login; an old one reaches its maximum age on the way. */
async function openFamily(plan: HistoryPlan, random: () => number, isOld: boolean) {
  const host = pick(random, plan.hosts)
  let leftMs = isOld ? 2_000 + Math.floor(random() * 8_000) : hour
  const refusals: string[] = []
  // The hosts may be out of patience with a slow backend before the history begins.
  while (refusals.length < 12) {
    const login = await host.newLogin({ aheadMs: leftMs - hour }).catch(() => null)
    const refreshed = login && (await host.refresh(login.refreshToken))
    const grant = refreshed?.status === 200 ? grantOf(refreshed) : null
    const view = grant && (await host.session(grant.refreshToken))
    if (login !== null && grant !== null && view?.status === 200) {
      const { absoluteExpiresAt } = view.json()['session'] as { absoluteExpiresAt: string }
      return { login: { ...login, ...grant }, capAt: Date.parse(absoluteExpiresAt) }
    }
    refusals.push(`${refreshed?.status ?? 'no login'}/${view?.status ?? 'not asked'}`)
    // Or the session was too old before it began: how long these calls take is the machine's to say.
    leftMs = Math.min(hour, leftMs * 2)
  }
  throw new Error(`no login to begin with: ${refusals.join(', ')}`)
}

async function client(family: Family): Promise<void> {
  while (family.sent < family.length) {
    const index = family.sent
    family.sent += 1
    await call(family, index)
  }
}

async function call(family: Family, index: number): Promise<void> {
  const { plan, random } = family
  const host = pick(random, plan.hosts)
  const chaos = {
    seed: `${plan.seed}/${index}`,
    delayMs,
    faultRate: plan.faultRate,
    lateMs: plan.lateMs,
  }
  const { op, send } = chosen(family, index)
  const isRefresh = op.kind === 'refresh'
  if (isRefresh) family.refreshing += 1
  const invokedAt = shownBy(plan.line)
  const reply = await send(host, { chaos })
  const returnedAt = shownBy(plan.line)
  if (isRefresh) family.refreshing -= 1
  const result = hasExpired(family, op, reply, returnedAt) ? null : resultOf(op, reply)
  family.calls.push({ op, invokedAt, returnedAt, result })
  remember(family, op, reply)
}

interface Choice {
  readonly op: FamilyOp
  send(host: Host, circumstances: { readonly chaos: HistoryChaos }): Promise<Reply>
}

type HistoryChaos = NonNullable<NonNullable<Parameters<Host['me']>[1]>['chaos']>

function chosen(family: Family, index: number): Choice {
  const { random, login, accessTokens } = family
  if (index >= family.endFrom && random() < 0.15) return ending(pick(random, endings), login)
  const which = random()
  const keepsOff = family.refreshing > 0 && random() < family.care
  const isStale = random() < family.staleness
  const grant = isStale ? pick(random, family.grants) : newest(family.grants)
  const { generation, refreshToken } = grant
  const known = random() < family.known
  const recognition = known ? login.recognition : ''
  if (which < 0.5 && !keepsOff) {
    return {
      op: { kind: 'refresh', generation, known },
      send: (host, under) => host.refresh(refreshToken, { ...under, recognition }),
    }
  }
  if (which < 0.7 && !keepsOff) {
    return {
      op: { kind: 'session', generation, known },
      send: (host, under) => host.session(refreshToken, { ...under, recognition }),
    }
  }
  const accessToken = pick(random, accessTokens)
  return { op: { kind: 'access' }, send: (host, under) => host.me(accessToken, under) }
}

function ending(kind: (typeof endings)[number], login: Login): Choice {
  const { sessionId, userId, accessToken } = login
  return {
    op: { kind },
    send(host, under) {
      switch (kind) {
        case 'logout':
          return host.logout(accessToken, under)
        case 'logoutEverywhere':
          return host.send('POST', '/v1/auth/client/logout', {
            bearer: accessToken,
            body: { everywhere: true },
            ...under,
          })
        case 'terminate':
          return host.tryControl('terminate', { sessionId }, under)
        case 'terminateAll':
        case 'disable':
          return host.tryControl(kind, { userId }, under)
      }
    },
  }
}

/** A plain 401 at the end of the last second tells of the access token, and nothing of the session. */
function hasExpired(
  { capAt }: Family,
  op: FamilyOp,
  { status, code }: Reply,
  returnedAt: number,
): boolean {
  const isPlain = status === 401 && code === undefined
  return op.kind === 'access' && isPlain && returnedAt >= Math.floor(capAt / 1000) * 1000
}

/** Null when the answer tells nothing. Rejects what no state of a session explains. */
function resultOf(op: FamilyOp, reply: Reply): FamilyResult | null {
  const { status, headers } = reply
  if (status === 503) return null
  if (status === 204) return { kind: 'done' }
  if (status === 200) {
    const outcome = headers.get('x-refresh-outcome')
    if (outcome !== 'rotated' && outcome !== 'reissued') return { kind: 'done' }
    return { kind: outcome, generation: grantOf(reply).generation }
  }
  const code = status === 401 || status === 403 ? reply.code : undefined
  if (typeof code === 'string') return { kind: 'refused', code }
  throw new Error(`${op.kind} was answered ${status} ${reply.text}`)
}

function remember(family: Family, op: FamilyOp, reply: Reply): void {
  if (reply.status !== 200 || (op.kind !== 'refresh' && op.kind !== 'session')) return
  const { accessToken } = reply.json()
  family.accessTokens.push(String(accessToken))
  if (op.kind === 'refresh') family.grants.push(grantOf(reply))
}

function newest(grants: readonly Grant[]): Grant {
  return grants.reduce((best, grant) => (grant.generation >= best.generation ? grant : best))
}

function pick<T>(random: () => number, from: readonly T[]): T {
  const found = from[Math.floor(random() * from.length)]
  if (found === undefined) throw new RangeError('nothing to pick from')
  return found
}
