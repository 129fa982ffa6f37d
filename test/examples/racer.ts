// One process among several that share a SQLite file: carries out the calls its parent sends.
import { DatabaseSync } from 'node:sqlite'
import type { CollectionSpec, Doc } from 'postern'
import { sqlite } from '../../examples/custom-store/sqlite.js'

export interface Ticket extends Doc {
  readonly email: string
  readonly count: number
}

/** Opens a file and prepares it for one collection. Every later call is of these. */
export interface Opening {
  readonly file: string
  readonly spec: CollectionSpec<Ticket>
}

export interface PortCall {
  readonly on: 'collection' | 'lease' | 'counter'
  readonly method: string
  readonly args: readonly unknown[]
}

/** What a call answered, and when by a clock that all processes of the machine share. */
export interface Turn {
  readonly answer: { readonly value: unknown } | { readonly failure: string }
  readonly began: bigint
  readonly ended: bigint
}

let opened: Readonly<Record<PortCall['on'], object>> | null = null

async function carryOut(call: Opening | PortCall): Promise<unknown> {
  if ('method' in call) return Reflect.get(opened?.[call.on] ?? {}, call.method)(...call.args)
  const { store, lease, counter } = sqlite(new DatabaseSync(call.file))
  await store.prepare([call.spec])
  opened = { collection: store.collection(call.spec), lease, counter }
  return null
}

async function turnOf(call: Opening | PortCall): Promise<Turn> {
  const began = process.hrtime.bigint()
  const answer = await carryOut(call).then(
    (value) => ({ value }),
    (error: unknown) => ({ failure: String(error) }),
  )
  return { answer, began, ended: process.hrtime.bigint() }
}

process.on('message', (call: Opening | PortCall) => {
  void turnOf(call).then((turn) => process.send?.(turn))
})
