import assert from 'node:assert/strict'
import type { EndReason } from '../../../src/ports/events.js'
import type { Held, World } from './world.js'

/** Fails unless the session has ended in all three places, and every door says so. */
export async function expectEnded(
  world: World,
  held: Held,
  reasons: readonly EndReason[],
): Promise<void> {
  const { stored, surface, host } = world
  const { sessionId, bearer, refreshToken } = held
  const id = `${surface}:session:${sessionId}`
  const [entry] = await host.backend.denylist.find([id])
  assert.ok(entry !== undefined, 'the session is not on the denylist')
  const family = await stored.families.get(sessionId)
  assert.ok(family !== null && family.revokedAt !== null, 'the refresh family is not revoked')
  assert.ok(
    family.revokedReason !== null && reasons.includes(family.revokedReason),
    `the family ended by ${family.revokedReason}, not ${reasons.join(' or ')}`,
  )
  const session = await stored.sessions.get(sessionId)
  assert.ok(session !== null && !session.active, 'the session document is still active')

  const maxAge = family.revokedReason === 'max_age'
  const code = maxAge ? 'session_max_age_reached' : 'session_revoked'
  const me = await world.send('GET', '/me', { bearer })
  // A token that has expired meanwhile is refused without a code.
  assert.equal(me.status, 401, 'an access token of an ended session was accepted')
  if (me.code !== undefined) assert.equal(me.code, code)
  if (refreshToken === null) return
  const refreshed = await world.refresh(held)
  assert.deepEqual([refreshed.status, refreshed.code], [401, code])
}

/** Fails unless the session is alive in the database and with its newest tokens. */
export async function expectAlive(world: World, held: Held): Promise<void> {
  const me = await world.send('GET', '/me', { bearer: held.bearer })
  assert.equal(me.status, 200, `an access token of a live session was refused: ${me.text}`)
  if (held.refreshToken === null) return
  const refreshed = await world.refresh(held)
  assert.equal(refreshed.status, 200, `a live session could not be refreshed: ${refreshed.text}`)
}

/** The newest tokens handed out in this world; fails when there are none. */
export function newestHeld(world: World): Held {
  const held = world.held.at(-1)
  assert.ok(held !== undefined, 'nothing was handed out')
  return held
}
