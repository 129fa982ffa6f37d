import { describe, expect, it } from 'vitest'
import { intentKinds } from '../../../src/engine/intents.js'
import { type HostKind, memoryHost } from '../../support/hosts/hosts.js'
import { eachStore } from '../../support/hosts/matrix.js'
import { type ChangeName, changes } from './changes.js'
import { type Row, rows } from './rows.js'
import { outcomeOf, type StartName, starts } from './starts.js'
import { openWorld } from './subject.js'

// The keys of the two tables, which `Object.keys` does not say.
const startNames = Object.keys(starts) as readonly StartName[]
const changeNames = Object.keys(changes) as readonly ChangeName[]

function expectedOf({ voided }: Row, change: ChangeName): string {
  const [code] = Object.entries(voided).find(([, all]) => all.includes(change)) ?? ['good']
  return code
}

const impossible = ({ cannot }: Row): readonly ChangeName[] => Object.values(cannot).flat()

const possible = (row: Row) => changeNames.filter((change) => !impossible(row).includes(change))

async function walked(start: StartName, change: ChangeName, kind: HostKind): Promise<string> {
  const { subject, finish } = await starts[start].begin(await openWorld(kind))
  await changes[change](subject)
  return outcomeOf(await finish())
}

interface Cell {
  readonly start: StartName
  readonly change: ChangeName
  readonly verdict: string
}

const cells: readonly Cell[] = startNames.flatMap((start) =>
  possible(rows[start]).map((change) => ({
    ...{ start, change },
    verdict: expectedOf(rows[start], change),
  })),
)

describe('the table of intents and changes', () => {
  it('has every kind of intent', () => {
    const walkedKinds = new Set(Object.values(starts).flatMap(({ kinds }) => kinds))
    expect([...walkedKinds].sort()).toEqual(Object.keys(intentKinds).sort())
  })

  it('names no cell twice', () => {
    for (const [name, row] of Object.entries(rows)) {
      const named = [...Object.values(row.voided).flat(), ...impossible(row)]
      expect([name, [...named].sort()]).toEqual([name, [...new Set(named)].sort()])
    }
  })
})

/**
 * All of them on memory. What a store could change is whether what voids an intent is seen at all: on
 * Postgres the cells where something does, and on the others those of every seventh start.
 */
function cellsOf({ name }: HostKind): readonly Cell[] {
  if (name === memoryHost.name) return cells
  const voided = cells.filter(({ verdict }) => verdict !== 'good')
  const some = startNames.filter((_, at) => at % 7 === 2)
  return name.includes('postgres') ? voided : voided.filter(({ start }) => some.includes(start))
}

eachStore.describe('an intent', (kind) => {
  it.each(cellsOf(kind))('$start; $change: $verdict', async ({ start, change, verdict }) => {
    expect(await walked(start, change, kind)).toBe(verdict)
  })
})
