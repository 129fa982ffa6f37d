import { setImmediate as turn } from 'node:timers/promises'
import type { Counter } from '../../../src/ports/counter.js'
import type { WrongAdapter } from './wrong-adapter.js'

const unlimited = Number.MAX_SAFE_INTEGER

interface Window {
  count: number
  resetsAt: number
  lengthMs: number
}

/** A counter kept in a map, with `change` applied to a window at every hit. */
function counting(change: (window: Window, windowMs: number, now: number) => void) {
  return (right: Counter): Partial<Counter> => {
    const windows = new Map<string, Window>()
    return {
      ...right,
      async hit(key, windowMs, limit, now) {
        const known = windows.get(key)
        const running = known && known.resetsAt > now
        const window = running ? known : { count: 0, resetsAt: now + windowMs, lengthMs: windowMs }
        windows.set(key, window)
        change(window, windowMs, now)
        const allowed = window.count < limit
        if (allowed) window.count += 1
        return { allowed, count: window.count, resetsAt: window.resetsAt }
      },
    }
  }
}

function wrong(
  fault: string,
  found: readonly string[],
  change: (right: Counter) => Partial<Counter>,
): WrongAdapter {
  return { fault, found, twist: ({ counter }) => ({ counter: { ...counter, ...change(counter) } }) }
}

export const wrongCounters: readonly WrongAdapter[] = [
  wrong(
    'a counter that checks, then counts',
    [
      'of twenty parallel hits with a limit of five, five are allowed',
      'of twenty parallel hits after a window ended, the limit is allowed',
    ],
    (right) => ({
      async hit(key, windowMs, limit, now) {
        const seen = await right.hit(key, windowMs, 0, now)
        if (seen.count >= limit) return { ...seen, allowed: false }
        return right.hit(key, windowMs, unlimited, now)
      },
    }),
  ),
  wrong(
    'a counter that counts refused hits',
    [
      'hits are counted up to the limit and refused beyond it',
      'another limit counts from the next hit',
      'a limit of 0 refuses every hit',
    ],
    (right) => ({
      async hit(key, windowMs, limit, now) {
        const hit = await right.hit(key, windowMs, unlimited, now)
        return { ...hit, allowed: hit.count <= limit }
      },
    }),
  ),
  wrong(
    'a counter whose every hit extends the window',
    ['a window starts with its first hit and no later hit extends it'],
    counting((window, windowMs, now) => {
      window.resetsAt = now + windowMs
    }),
  ),
  wrong(
    'a counter whose windows change their length',
    ['a running window keeps its end when another length is asked'],
    counting((window, windowMs) => {
      window.resetsAt += windowMs - window.lengthMs
      window.lengthMs = windowMs
    }),
  ),
  wrong(
    "a counter that goes by the machine's clock",
    ['only the time that is passed counts'],
    (right) => ({ hit: (key, windowMs, limit) => right.hit(key, windowMs, limit, Date.now()) }),
  ),
  wrong('a counter that ignores case', ['keys are counted apart'], (right) => ({
    hit: (key, windowMs, limit, now) => right.hit(key.toLowerCase(), windowMs, limit, now),
  })),
  wrong(
    'a forgive that hands back one hit, however many were asked',
    ['forgive hands back hits, never below zero'],
    (right) => ({ forgive: (key, hits) => right.forgive(key, hits && 1) }),
  ),
  wrong(
    'a forgive that keeps the window',
    ['forgive without a number forgets the key'],
    (right) => ({ forgive: (key, hits) => right.forgive(key, hits ?? unlimited) }),
  ),
  wrong('a forgive that needs a window', ['forgive of an unknown key does nothing'], (right) => {
    const known = new Set<string>()
    return {
      hit(key, ...rest) {
        known.add(key)
        return right.hit(key, ...rest)
      },
      async forgive(key, hits) {
        if (!known.has(key)) throw new Error(`no window of ${key}`)
        await right.forgive(key, hits)
      },
    }
  }),
  wrong(
    'a forgive that reads, then writes',
    ['parallel hits and forgives lose nothing'],
    (right) => {
      const counts = new Map<string, number>()
      return {
        async hit(key, windowMs, limit, now) {
          const hit = await right.hit(key, windowMs, limit, now)
          counts.set(key, hit.count)
          return hit
        },
        async forgive(key, hits = 0) {
          const count = counts.get(key) ?? 0
          await turn()
          await right.forgive(key)
          for (let hit = hits; hit < count; hit++) await right.hit(key, 60_000, unlimited, 1)
        },
      }
    },
  ),
  wrong(
    'a sweep of windows that still run',
    ['sweep removes windows that ended, up to its limit'],
    (right) => ({ sweep: (before, limit) => right.sweep(before + 1, limit) }),
  ),
]
