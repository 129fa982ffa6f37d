import { setImmediate as turn } from 'node:timers/promises'
import { type WrongAdapter, wrong } from './wrong-adapter.js'

export const wrongSweeps: readonly WrongAdapter[] = [
  wrong(
    'a sweep that goes by the day',
    [
      'sweep removes what expired at or before a time, never earlier',
      'a renewed document survives the sweep',
    ],
    (right) => ({
      sweep: (before, limit) => right.sweep(before - (before % 86_400_000) + 86_399_999, limit),
    }),
  ),
  wrong(
    'a sweep that knows no limit',
    ['sweep removes at most its limit and tells what is left'],
    (right) => ({ sweep: (before) => right.sweep(before, 1000) }),
  ),
  wrong(
    'a sweep that chooses, then removes without another look',
    ['of a renewal racing a sweep, one wins and the other sees it'],
    (right) => ({
      async sweep(before, limit) {
        const chosen = await right.due(before, limit)
        await turn()
        for (const { id } of chosen) await right.take(id)
        return { removed: chosen.length, left: (await right.due(before, 1000)).length }
      },
    }),
  ),
  wrong(
    'a sweep that counts what it chose, not what it removed',
    ['racing sweeps count each document once'],
    (right) => ({
      async sweep(before, limit) {
        const chosen = await right.due(before, limit)
        await turn()
        const { left } = await right.sweep(before, limit)
        return { removed: chosen.length, left }
      },
    }),
  ),
  wrong(
    'a sweep of what is due or lasts',
    ['sweep rejects where nothing may be swept'],
    (right) => ({
      sweep: (before, limit) => right.sweep(before, limit).catch(() => ({ removed: 0, left: 0 })),
    }),
  ),
]
