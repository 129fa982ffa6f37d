import assert from 'node:assert/strict'
import {
  type BackendCall,
  type CallFaults,
  type Fault,
  leakMarker,
} from '../../support/stores/call-faults.js'
import {
  changeProblems,
  type Database,
  deadFamilies,
  type Picture,
  pictureOf,
  staticProblems,
} from '../invariants.js'
import type { Attempt, Flow, Outcome, Struck } from './flow.js'
import type { World } from './world.js'

/** Milliseconds the library waits for a call; moved by the fake clock. */
export const backendTimeout = 1000

const onReads: readonly Fault[] = ['before', 'hang', 'stale', 'down']
const onWrites: readonly Fault[] = ['before', 'after', 'hang', 'silent', 'late', 'twice', 'down']

/** Faults that can befall this call, its position aside. */
export function faultsOf({ kind, canBeStale }: BackendCall): readonly Fault[] {
  if (kind === 'write') return onWrites
  return onReads.filter((fault) => fault !== 'stale' || canBeStale)
}

export interface Bench {
  readonly flow: Flow
  readonly faults: CallFaults
  newWorld(): World
}

/**
 * Settings come from a cache that every request of 30 seconds shares: whether a request reads them is
 * chance, and what it answers when they cannot be read is shown where the settings are.
 */
const isOfRequest = ({ name }: BackendCall): boolean => !name.startsWith('operator_module')

/** Runs the flow without faults: its calls in their order. */
export async function recordCalls({
  flow,
  faults,
  newWorld,
}: Bench): Promise<readonly BackendCall[]> {
  const world = newWorld()
  const attempt = await flow.prepare(world)
  // What went on beside the preparation is no call of the request.
  await world.host.auth.close()
  world.start()
  const before = await pictureOfWorld(world)
  const window = faults.begin()
  const outcome = await attempt.send()
  // What goes on beside the request belongs to the flow as well.
  await world.host.auth.close()
  const calls = window.calls.filter(isOfRequest)
  await faults.heal()
  assert.equal(outcome.is, flow.expects, outcome.shown)
  await attempt.reached()
  await checkAll(world, before)
  return calls
}

/** Runs the flow with a fault, heals the store and repeats the request; the calls it made. */
export async function strikeCall(bench: Bench, struck: Struck): Promise<readonly BackendCall[]> {
  const { flow, faults } = bench
  const world = bench.newWorld()
  const attempt = await flow.prepare(world)
  // What went on beside the preparation is no call of the request.
  await world.host.auth.close()
  world.start()
  const before = await pictureOfWorld(world)

  const all = struck.next === undefined ? [struck] : [struck, struck.next]
  let givenUp = Promise.resolve()
  const window = faults.begin(new Map(all.map(({ call, fault }) => [call.key, fault])), () => {
    givenUp = givenUp.then(() => giveUp(bench, world))
  })
  const first = await attempt.send()
  await world.host.auth.close()
  await givenUp
  assert.equal(window.struck, all.length, 'not every call was made again')
  const calls = window.calls.filter(isOfRequest)
  await faults.heal()

  expectDocumented(flow, first, struck)
  const between = await checkAll(world, before)
  for (const bearer of attempt.untouched ?? []) {
    const me = await world.send('GET', '/me', { bearer })
    assert.equal(me.status, 200, `the access token stopped working: ${me.text}`)
  }
  if (first.is !== flow.expects) await repeat(flow, attempt, struck)
  await attempt.reached()
  const after = await checkAll(world, between)
  await expectDeadIsDead(world, after)
  return calls
}

/** Lets the call that hangs time out, and no other: what goes on beside it is not to blame. */
async function giveUp({ faults }: Bench, { host }: World): Promise<void> {
  await faults.idle()
  await host.clock.advance(1)
  await faults.idle()
  await host.clock.advance(backendTimeout - 1)
}

/** The request succeeds now, or ends in a way its flow documents. */
async function repeat(flow: Flow, attempt: Attempt, struck: Struck): Promise<void> {
  const again = await attempt.send()
  const allowed = [flow.expects, ...(flow.ends?.(struck) ?? [])]
  assert.ok(allowed.includes(again.is), `repeated, it answered ${again.is}: ${again.shown}`)
}

function expectDocumented(flow: Flow, { is, shown, setCookies }: Outcome, struck: Struck): void {
  const others = [...(flow.ends?.(struck) ?? []), ...(flow.mayAnswer?.(struck) ?? [])]
  const allowed = [flow.expects, ...flow.unavailable, ...others]
  assert.ok(allowed.includes(is), `it answered ${is}: ${shown}`)
  for (const secret of [leakMarker, struck.call.name, '.ts:']) {
    assert.ok(!shown.includes(secret), `the reply tells of the fault: ${shown}`)
  }
  if (is.startsWith('503')) assert.deepEqual(setCookies, [], 'a 503 touched the cookie')
}

function databaseOf({ surface, stored, host }: World): Database {
  return { surface, stored, denylist: host.backend.denylist }
}

function pictureOfWorld(world: World): Promise<Picture> {
  return pictureOf(databaseOf(world), world.userIds)
}

async function checkAll(world: World, before: Picture): Promise<Picture> {
  const picture = await pictureOfWorld(world)
  const handedOut = world.held.slice(world.heldAtStart)
  const tokens = handedOut.flatMap(({ refreshToken }) => refreshToken ?? [])
  const changes = changeProblems(before, picture, world.deleted)
  assert.deepEqual([...staticProblems(picture, tokens), ...changes], [])
  return picture
}

/** Whatever the rows say is dead opens no door, with any token ever handed out for it. */
async function expectDeadIsDead(world: World, picture: Picture): Promise<void> {
  const dead = new Set(deadFamilies(picture))
  for (const held of world.held) {
    const { sessionId, bearer, refreshToken } = held
    if (!dead.has(sessionId)) continue
    const listed = picture.listed.has(sessionId)
    if (listed) await refused(world.send('GET', '/me', { bearer }))
    if (refreshToken !== null) await refused(world.refresh(held))
  }
}

async function refused(sent: ReturnType<World['send']>): Promise<void> {
  const reply = await sent
  assert.equal(reply.status, 401, `of a dead session: ${reply.status} ${reply.text}`)
}
