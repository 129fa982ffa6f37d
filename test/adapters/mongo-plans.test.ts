import type { CommandStartedEvent, Document } from 'mongodb'
import { describe, expect, inject, it } from 'vitest'
import { mongo } from '../../adapters/mongo/index.js'
import { allCollectionSpecs } from '../../src/model/collections.js'
import type { CollectionSpec, Doc } from '../../src/ports/store.js'
import { type KeyedCall, keyedCalls } from '../support/stores/keyed-calls.js'
import { mongoDatabases, mongoTitle } from '../support/stores/mongo-databases.js'
import { commandPlan } from './mongo-plan.js'

const noon = Date.UTC(2030, 5, 15, 12)

describe.skipIf(!inject('mongo'))(mongoTitle('mongo plans'), () => {
  const { client, database } = mongoDatabases({ monitorCommands: true })
  let sent: CommandStartedEvent[] = []
  client.on('commandStarted', (event) => sent.push(event))

  it('every command of a keyed operation goes by an id or an index, and sorts nothing that the index does not', async () => {
    const db = database()
    const { store, denylist, counter } = mongo({ db })
    const specs = allCollectionSpecs('')
    await store.prepare(specs)
    const plans: {
      readonly what: string
      readonly plan: Awaited<ReturnType<typeof commandPlan>>
    }[] = []
    const explain = async ([what, sorts, call]: KeyedCall) => {
      sent = []
      await call()
      const commands = sent.map(({ command }): Document => command)
      for (const command of commands) {
        const plan = await commandPlan(db, command)
        plans.push({ what, plan: sorts && plan === 'sorted' ? 'by index' : plan })
      }
    }
    for (const spec of specs) {
      const collection = store.collection(spec as CollectionSpec<Doc>)
      const sweep: KeyedCall = ['sweep', false, () => collection.sweep(noon, 100)]
      const calls: readonly KeyedCall[] = [
        ...keyedCalls(spec, collection),
        ['due', false, () => collection.due(noon, 100)],
        ...(spec.expires === 'never' || spec.expires === 'due' ? [] : [sweep]),
      ]
      for (const [what, ...rest] of calls) await explain([`${spec.name}.${what}`, ...rest])
    }
    const ids = Array.from({ length: 64 }, (_, at) => `id${at}`)
    await explain(['denylist.find', false, () => denylist.find(ids)])
    await explain(['denylist.sweep', false, () => denylist.sweep(noon, 100)])
    await explain(['counter.hit', false, () => counter.hit('id7', 1000, 5, noon)])
    await explain(['counter.forgive', false, () => counter.forgive('id7', 1)])
    await explain(['counter.forgive of all', false, () => counter.forgive('id8')])
    expect(plans.length).toBeGreaterThan(200)
    expect(plans.filter(({ plan }) => plan !== 'by id' && plan !== 'by index')).toEqual([])
  }, 120_000)
})

describe.skipIf(!inject('mongo'))(mongoTitle('what the plan of a command is taken for'), () => {
  const { database } = mongoDatabases()

  it.each([
    ['by id', { find: 'rows', filter: { _id: { $eq: 'a' } } }],
    [
      'by id',
      { find: 'rows', filter: { $and: [{ _id: { $in: ['a', 'b'] } }, { other: { $eq: 1 } }] } },
    ],
    ['by index', { find: 'rows', filter: { $and: [{ team: { $eq: 'x' } }] }, sort: { _id: 1 } }],
    ['whole', { find: 'rows', filter: { $and: [{ other: { $eq: 'x' } }] }, sort: { _id: 1 } }],
    ['whole', { find: 'rows', filter: {} }],
    ['sorted', { find: 'rows', filter: { team: { $eq: 'x' } }, sort: { other: 1 } }],
  ])('%s: %j', async (plan, command) => {
    const db = database()
    await db.collection('rows').createIndex({ team: 1, _id: 1 })
    expect(await commandPlan(db, command)).toBe(plan)
  })
})
