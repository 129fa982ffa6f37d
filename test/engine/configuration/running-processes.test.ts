import { expect, it } from 'vitest'
import {
  awaitsRestart,
  checkInMs,
  withoutProcess,
  withProcess,
} from '../../../src/engine/configuration/running-processes.js'

const minute = 60_000
const processes = {
  old: { activations: 1, seenAt: 10 * minute },
  fresh: { activations: 2, seenAt: 10 * minute },
}

it('a process that began before the last activation awaits its restart', () => {
  expect(awaitsRestart({ activations: 2, processes }, 11 * minute)).toBe(true)
  expect(awaitsRestart({ activations: 1, processes }, 11 * minute)).toBe(false)
  expect(awaitsRestart({ activations: 2, processes: {} }, 11 * minute)).toBe(false)
})

it('one that said nothing for a quarter of an hour counts no more', () => {
  expect(checkInMs).toBe(5 * minute)
  const asked = { activations: 2, processes }
  expect(awaitsRestart(asked, 25 * minute - 1)).toBe(true)
  expect(awaitsRestart(asked, 25 * minute)).toBe(false)
})

it('processes come and go, and those that crashed go with them', () => {
  const later = { ...processes, crashed: { activations: 1, seenAt: 0 } }
  const now = 16 * minute
  const mine = { activations: 3, seenAt: now }
  expect(withProcess(later, 'mine', 3, now)).toEqual({ ...processes, mine })
  expect(withoutProcess(later, 'old', now)).toEqual({ fresh: processes.fresh })
})
