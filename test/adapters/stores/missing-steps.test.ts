import type { AnyCollectionSpec } from 'postern'
import { allCollectionSpecs, type FoundCollection, missingSteps } from 'postern/stores'
import { expect, it } from 'vitest'

const spec: AnyCollectionSpec = {
  name: 'users',
  fields: { email: { kind: 'text' }, kind: { kind: 'text', nullable: true } },
  indexes: [{ on: ['email'], unique: true }, { on: ['kind', 'email'] }],
  retiredIndexes: [{ on: ['kind'] }],
  expires: 'sliding',
}

const complete: FoundCollection = {
  fields: ['id', 'expiresAt', 'email', 'kind'],
  indexes: [
    { on: ['email'], unique: true },
    { on: ['kind', 'email'], unique: false },
    { on: ['expiresAt'], unique: false },
  ],
}

const stepsFor = (found: Partial<FoundCollection>, wanted = spec) =>
  missingSteps([wanted], new Map([['users', { ...complete, ...found }]])).map((step) => {
    if (step.kind === 'field') return `field ${step.field}`
    return step.kind === 'collection' ? 'collection' : `${step.kind} ${step.index.on.join()}`
  })

it('asks for whole collections where there are none', () => {
  const all = allCollectionSpecs('')
  const steps = missingSteps(all, new Map())
  expect(steps).toEqual(all.map((one) => ({ kind: 'collection', spec: one })))
})

it('asks for nothing where all is there, with more besides', () => {
  const more = {
    fields: [...complete.fields, 'note'],
    indexes: [...complete.indexes, { on: ['note'], unique: false }],
  }
  expect(stepsFor(more)).toEqual([])
})

it('asks for fields before the indexes on them', () => {
  expect(stepsFor({ fields: ['id', 'expiresAt'], indexes: [] })).toEqual([
    ...['field email', 'field kind'],
    ...['index email', 'index kind,email', 'index expiresAt'],
  ])
})

it('takes an index for another where its order or its uniqueness differs', () => {
  const indexes = [
    { on: ['email'], unique: false },
    { on: ['email', 'kind'], unique: false },
    { on: ['expiresAt'], unique: false },
  ]
  expect(stepsFor({ indexes })).toEqual(['index email', 'index kind,email'])
})

it('names retired indexes that are there, last', () => {
  const indexes = [{ on: ['kind'], unique: false }, ...complete.indexes.slice(1)]
  expect(stepsFor({ indexes })).toEqual(['index email', 'retiredIndex kind'])
})

it('asks for an index on the expiry only where documents expire, and once', () => {
  const indexes = complete.indexes.slice(0, 2)
  expect(stepsFor({ indexes }, { ...spec, expires: 'never' })).toEqual([])
  const declared = { ...spec, indexes: [...spec.indexes, { on: ['expiresAt'] }] }
  expect(stepsFor({ indexes }, declared)).toEqual(['index expiresAt'])
})

it('refuses a spec that is not valid', () => {
  const wrong = { ...spec, indexes: [{ on: ['nothing'] }] }
  expect(() => missingSteps([wrong], new Map())).toThrow(TypeError)
})
