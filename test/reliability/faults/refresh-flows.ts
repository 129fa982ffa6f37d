import assert from 'node:assert/strict'
import { decodeJwt } from 'jose'
import type { EndReason } from '../../../src/ports/events.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { expectAlive, expectEnded, newestHeld } from './endings.js'
import {
  type Attempt,
  type Flow,
  outcomeOf,
  type Struck,
  sessionUnavailable,
  tookEffect,
} from './flow.js'
import type { Holder, World } from './world.js'

const second = 1000
const hour = 60 * 60 * second

/** The three ways to use a refresh token. */
const doors = {
  refresh: (world: World, { refreshToken }: Holder) =>
    world.send('POST', '/refresh', { body: { refreshToken } }),
  'refresh-cookie': (world: World, { cookie }: Holder) =>
    world.send('POST', '/refresh-cookie', { cookie }),
  session: (world: World, { cookie }: Holder) => world.send('GET', '/session', { cookie }),
} as const

type Door = keyof typeof doors

/** What the token shown is worth, and what must have become of its session afterwards. */
interface Case {
  readonly is: string
  readonly expects: string
  readonly settings?: Readonly<Record<string, string>>
  /** The token to show. Its session has been refreshed before, so that rows have a past. */
  arrange(world: World): Promise<Holder>
  /** Null for a session that lives on. */
  readonly endedBy: readonly EndReason[] | null
  readonly ends?: Flow['ends']
  readonly leavesOut?: Flow['leavesOut']
}

async function freshlyRotated(world: World): Promise<{ older: Holder; newest: Holder }> {
  const older = await world.signIn(await world.person())
  return { older, newest: await world.rotate(older) }
}

const staleReads = ({ fault }: Struck): boolean => fault === 'stale'
/** Once its row says so, a session was ended before, whoever hears of it first. */
const wasRevoked = (struck: Struck): readonly string[] =>
  /sessions\.update|records\.insert/.test(struck.call.name) ||
  tookEffect(struck, 'refresh_tokens.update')
    ? ['401 session_revoked']
    : []

const cases: readonly Case[] = [
  {
    is: 'of the current generation',
    expects: '200',
    arrange: async (world) => (await freshlyRotated(world)).newest,
    endedBy: null,
  },
  {
    is: 'of the generation before, within the window',
    expects: '200',
    arrange: async (world) => (await freshlyRotated(world)).older,
    endedBy: null,
  },
  {
    is: 'of the generation before, after the window',
    expects: '401 refresh_token_reused',
    async arrange(world) {
      const { older } = await freshlyRotated(world)
      await world.host.clock.advance(11 * second)
      return older
    },
    endedBy: ['replay'],
    ends: wasRevoked,
  },
  {
    is: 'of a session over its maximum age',
    expects: '401 session_max_age_reached',
    settings: { sessionAbsoluteTTL: '1h' },
    async arrange(world) {
      const { newest } = await freshlyRotated(world)
      await world.host.clock.advance(hour + 1)
      return newest
    },
    endedBy: ['max_age'],
  },
  {
    is: 'of a session that was ended',
    expects: '401 session_revoked',
    async arrange(world) {
      const { newest } = await freshlyRotated(world)
      await world.host.auth[world.surface].terminateSession(newest.sessionId)
      return newest
    },
    endedBy: ['admin'],
  },
  {
    is: 'of a session whose ending was interrupted after the denylist',
    expects: '401 session_revoked',
    async arrange(world) {
      const { newest } = await freshlyRotated(world)
      const id = `${world.surface}:session:${newest.sessionId}`
      const expiresAt = world.host.clock.now() + 24 * hour
      await world.host.backend.denylist.put([{ id, reason: 'revoked', expiresAt }])
      return newest
    },
    endedBy: ['admin'],
    // The state itself is what a fault left behind: one at a time.
    leavesOut: staleReads,
  },
  {
    is: 'of a session whose ending was interrupted after the row',
    expects: '401 session_revoked',
    async arrange(world) {
      const { newest } = await freshlyRotated(world)
      const { sessionId } = newest
      await world.host.auth[world.surface].terminateSession(sessionId)
      const open = { active: true, endedAt: null, endReason: null }
      await world.stored.sessions.update(sessionId, { active: false }, open)
      return newest
    },
    endedBy: ['admin'],
  },
  {
    is: 'of somebody disabled, before the sessions were ended',
    expects: '401 session_revoked',
    async arrange(world) {
      const { newest } = await freshlyRotated(world)
      const change = { enabled: false, sessionEpoch: 1, keptSessionId: null }
      await world.stored.users.update(newest.userId, { enabled: true }, change)
      return newest
    },
    endedBy: ['admin'],
    leavesOut: staleReads,
  },
  {
    is: 'of somebody who ended all sessions, before they were ended',
    expects: '401 session_revoked',
    async arrange(world) {
      const { newest } = await freshlyRotated(world)
      const change = { sessionEpoch: 1, keptSessionId: null }
      await world.stored.users.update(newest.userId, { sessionEpoch: 0 }, change)
      return newest
    },
    endedBy: ['admin'],
    leavesOut: staleReads,
  },
  {
    is: 'newer than its row',
    expects: '401 refresh_token_invalid',
    async arrange(world) {
      const { newest } = await freshlyRotated(world)
      await world.stored.families.update(newest.sessionId, { generation: 2 }, { generation: 1 })
      return newest
    },
    endedBy: ['admin'],
    ends: wasRevoked,
    leavesOut: staleReads,
  },
]

function flowOf(door: Door, given: Case): Flow {
  return {
    name: `/${door} with a token ${given.is}`,
    options: { ...withoutLimits, settings: { ...withoutLimits.settings, ...given.settings } },
    expects: given.expects,
    unavailable: sessionUnavailable,
    ...(given.ends === undefined ? {} : { ends: given.ends }),
    leavesOut: (struck) => given.leavesOut?.(struck) === true || restsOnARead(door, given, struck),
    async prepare(world): Promise<Attempt> {
      const delivery = door === 'refresh' ? 'body' : 'cookie'
      const signIn: World['signIn'] = (who) => world.signIn(who, delivery)
      const holder = await given.arrange({ ...world, signIn })
      const { endedBy } = given
      return {
        send: async () => outcomeOf(await doors[door](world, holder)),
        untouched: endedBy === null ? [holder.bearer] : [],
        async reached() {
          if (endedBy === null) await expectAlive(world, newestHeld(world))
          else await expectEnded(world, holder, endedBy)
        },
      }
    },
  }
}

/**
 * `GET session` writes nothing, so nothing but the row it read tells it that a token was retired:
 * there the port's promise of reading the newest version is all there is.
 */
function restsOnARead(door: Door, { is }: Case, { fault, call }: Struck): boolean {
  return (
    door === 'session' &&
    fault === 'stale' &&
    call.name.endsWith('refresh_tokens.get') &&
    is === 'of the generation before, after the window'
  )
}

/** A refresh without a window: there only the re-read of the row explains a lost answer. */
const strict: Flow = {
  name: '/refresh with a token of the current generation, without a window',
  options: { ...withoutLimits, settings: { ...withoutLimits.settings, refreshReuseGrace: '0s' } },
  expects: '200',
  unavailable: sessionUnavailable,
  // The bound the documentation states: the write took effect and nobody could be told.
  ends: (struck) =>
    tookEffect(struck, 'refresh_tokens.update') && ['down', 'late'].includes(struck.fault)
      ? ['401 refresh_token_reused']
      : [],
  async prepare(world) {
    const { newest } = await freshlyRotated(world)
    return {
      send: async () => outcomeOf(await doors.refresh(world, newest)),
      async reached() {
        const family = await world.stored.families.get(newest.sessionId)
        assert.ok(family !== null)
        if (family.revokedAt === null) await expectAlive(world, newestHeld(world))
        else await expectEnded(world, newest, ['replay'])
      },
    }
  },
}

/** A refresh from another place, where the host's scorer says what becomes of the session. */
function fromElsewhere(outcome: 'stepUp' | 'end', isProved = false): Flow {
  const isEnd = outcome === 'end'
  const where = isProved ? 'another place after a step-up' : 'another place'
  return {
    name: `/refresh from ${where}, which the scorer answers with ${outcome}`,
    options: { ...withoutLimits, sessionRiskScorer: { assess: async () => ({ outcome }) } },
    expects: isEnd ? '401 session_revoked' : '200',
    unavailable: sessionUnavailable,
    async prepare(world) {
      const { newest } = await freshlyRotated(world)
      const { refreshToken, bearer } = newest
      if (isProved) {
        const { sid: id = '', sub: userId = '' } = decodeJwt<{ sid?: string }>(bearer)
        const proof = {
          id,
          userId,
          method: 'totp',
          deviceEpoch: 0,
          provedAt: 1,
          expiresAt: 2,
        } as const
        await world.stored.stepUpProofs.insert(proof)
      }
      const request = { body: { refreshToken }, headers: { 'user-agent': 'another app' } }
      return {
        send: async () => outcomeOf(await world.send('POST', '/refresh', request)),
        untouched: isEnd ? [] : [bearer],
        async reached() {
          // An ending that was interrupted after the denylist is completed as one by an administrator.
          if (isEnd) await expectEnded(world, newest, ['risk', 'admin'])
          else await expectAlive(world, newestHeld(world))
        },
      }
    },
  }
}

const doorNames: readonly Door[] = ['refresh', 'refresh-cookie', 'session']

export const refreshFlows: readonly Flow[] = [
  ...cases.flatMap((given) => doorNames.map((door) => flowOf(door, given))),
  strict,
  fromElsewhere('stepUp'),
  fromElsewhere('stepUp', true),
  fromElsewhere('end'),
]
