import { setImmediate as turn } from 'node:timers/promises'
import type { Counter } from '../../../src/ports/counter.js'
import { type AddingCounter, addingCounter } from '../../../src/testing/shared/adding-counter.js'
import type { WrongAdapter } from './wrong-adapter.js'

const unlimited = Number.MAX_SAFE_INTEGER

type Add = AddingCounter['add']

function wrong(
  fault: string,
  found: readonly string[],
  add: (right: AddingCounter, ...call: Parameters<Add>) => ReturnType<Add>,
): WrongAdapter {
  const twist = (counter: Counter): Counter => {
    return { ...counter, add: (...call) => add(addingCounter(counter), ...call) }
  }
  return { fault, found, twist: ({ counter }) => ({ counter: twist(counter) }) }
}

export const wrongAdditions: readonly WrongAdapter[] = [
  wrong(
    'an add that counts one hit, however many were made',
    ['add counts all its hits, and hit goes on from there'],
    (right, ...[key, windowMs, limit, now]) => right.add(key, windowMs, limit, now, 1),
  ),
  wrong(
    'an add of one hit after the other',
    ['of eight parallel additions, as many hits are counted as have room'],
    async (right, ...[key, windowMs, limit, now, hits]) => {
      let last = await right.hit(key, windowMs, limit, now)
      for (let hit = 1; hit < hits; hit++) last = await right.hit(key, windowMs, limit, now)
      return last
    },
  ),
  wrong(
    'an add of all hits or none',
    [
      'add counts the hits that have room and is refused when not all have',
      'add of more hits than the limit fills a new window',
    ],
    async (right, ...[key, windowMs, limit, now, hits]) => {
      const { count, resetsAt } = await right.add(key, windowMs, unlimited, now, hits)
      const allowed = count <= limit
      if (!allowed) await right.forgive(key, hits)
      return { allowed, count: allowed ? count : count - hits, resetsAt }
    },
  ),
  wrong(
    'an add that counts beyond the limit',
    [
      'add counts the hits that have room and is refused when not all have',
      'add within a lowered limit takes back nothing that was counted',
    ],
    async (right, ...[key, windowMs, limit, now, hits]) => {
      const { count, resetsAt } = await right.add(key, windowMs, unlimited, now, hits)
      return { allowed: count <= limit, count: Math.min(count, limit), resetsAt }
    },
  ),
  wrong(
    'an add that cuts a window down to a lowered limit',
    ['add within a lowered limit takes back nothing that was counted'],
    async (right, ...[key, windowMs, limit, now, hits]) => {
      const answer = await right.add(key, windowMs, limit, now, hits)
      if (answer.count > limit) await right.forgive(key, answer.count - limit)
      return { ...answer, count: Math.min(answer.count, limit) }
    },
  ),
  wrong(
    'an add that starts the window anew',
    ['a window starts with the first hits added and no later ones extend it'],
    async (right, ...[key, windowMs, limit, now, hits]) => {
      const { count } = await right.hit(key, windowMs, 0, now)
      await right.forgive(key)
      return right.add(key, windowMs, limit, now, count + hits)
    },
  ),
  wrong(
    'an add that reads, then writes',
    ['parallel additions, hits and forgives lose nothing'],
    async (right, ...[key, windowMs, limit, now, hits]) => {
      const { count } = await right.hit(key, windowMs, 0, now)
      await turn()
      await right.forgive(key)
      return right.add(key, windowMs, limit, now, count + hits)
    },
  ),
]
