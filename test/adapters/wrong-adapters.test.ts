import { describe, expect, it } from 'vitest'
import { memory } from '../../adapters/memory/index.js'
import {
  type ConformanceCase,
  counterCases,
  denylistCases,
  leaseCases,
  type MakeBackend,
  storeCases,
} from '../../src/testing/index.js'
import type { WrongAdapter } from './wrong/wrong-adapter.js'
import { wrongCallsForMany } from './wrong/wrong-many.js'
import { wrongAdditions, wrongCounters, wrongDenylists, wrongLeases } from './wrong/wrong-ports.js'
import {
  rightlyPlanned,
  wrongGuards,
  wrongPlans,
  wrongReads,
  wrongSchemas,
} from './wrong/wrong-reads.js'
import { wrongSweeps, wrongUpdates, wrongWrites } from './wrong/wrong-writes.js'

type Kit = (make: MakeBackend) => readonly ConformanceCase[]

const wrongStores = [
  ...wrongSchemas,
  ...wrongPlans,
  ...wrongWrites,
  ...wrongUpdates,
  ...wrongGuards,
  ...wrongReads,
  ...wrongSweeps,
  ...wrongCallsForMany,
]

const kits: readonly (readonly [string, Kit, readonly WrongAdapter[]])[] = [
  ['store', storeCases, wrongStores],
  ['denylist', denylistCases, wrongDenylists],
  ['lease', leaseCases, wrongLeases],
  ['counter', counterCases, [...wrongCounters, ...wrongAdditions]],
]

/** Names of the cases that fail when the memory adapter has one fault. */
async function failing(kit: Kit, { twist }: WrongAdapter): Promise<readonly string[]> {
  const names: string[] = []
  const make = async () => {
    const right = memory()
    return { ...right, ...twist(right) }
  }
  for (const { name, run } of kit(make)) await run().catch(() => names.push(name))
  return names
}

describe.each(kits)('the %s cases', (_port, kit, faults) => {
  const failed = new Set<string>()

  it.each(faults)('find $fault', async (fault) => {
    const names = await failing(kit, fault)
    for (const name of names) failed.add(name)
    expect(names).toEqual(expect.arrayContaining([...fault.found]))
  })

  it('each fail on at least one of these faults', () => {
    const names = kit(async () => memory()).map(({ name }) => name)
    expect(names.filter((name) => !failed.has(name))).toEqual([])
  })
})

it('a store whose plan keeps its promise fails none of them', async () => {
  const planned = storeCases(async () => rightlyPlanned(memory()))
  await planned.find(({ name }) => name.startsWith('a plan names'))?.run()
})
