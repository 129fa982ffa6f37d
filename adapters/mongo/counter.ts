import type { Document } from 'mongodb'
import { checkExpiry, checkForgive, checkHit } from '../../src/checks/check-call.js'
import type { Counter, CounterResult } from '../../src/ports/counter.js'
import type { CollectionSpec, Doc } from '../../src/ports/store.js'
import type { BoundCollection } from './bound-collection.js'
import { type Documents, isTaken, type StoredDocument } from './handle.js'
import { removeExpired } from './sweep.js'

interface CounterDoc extends Doc {
  readonly hits: number
}

export const counterSpec: CollectionSpec<CounterDoc> = {
  name: 'postern_counters',
  fields: { hits: { kind: 'integer' } },
  indexes: [],
  expires: 'fixed',
}

interface Hit {
  readonly key: string
  readonly limit: number
  readonly now: Date
  readonly resetsAt: Date
}

// A try fails only when another caller's hit, forgiving or sweep succeeded.
const mostTries = 100

const after = { returnDocument: 'after', includeResultMetadata: false } as const

/**
 * A hit that opens a window or finds room in a running one is one command, a refused one two, and
 * one that follows an ended window three. One command for all of them would need an update by
 * pipeline, which not every server of this protocol has.
 */
export function mongoCounter({ open }: BoundCollection): Counter {
  return {
    async hit(key, windowMs, limit, now) {
      const resetsAt = checkHit(key, windowMs, limit, now)
      const hit = { key, limit, now: new Date(now), resetsAt: new Date(resetsAt) }
      const documents = await open()
      for (let tries = 0; tries < mostTries; tries++) {
        const counted =
          (await countOn(documents, hit)) ??
          (await refuse(documents, hit)) ??
          (await countAnew(documents, hit))
        if (counted) return counted
      }
      throw new Error('mongo: too many hits on one key at once')
    },
    async forgive(key, hits) {
      checkForgive(key, hits)
      const documents = await open()
      if (hits === undefined) await documents.deleteOne({ _id: { $eq: key } })
      else await handBack(documents, key, hits)
    },
    async sweep(before, limit) {
      checkExpiry('counter.sweep', before, limit)
      return (await removeExpired(await open(), before, limit)).removed
    },
  }
}

/** Counts in a running window with room, or in a new one where the key has none; else null. */
async function countOn(documents: Documents, hit: Hit): Promise<CounterResult | null> {
  const { key, limit, now, resetsAt } = hit
  if (limit === 0) return null
  const filter = { _id: { $eq: key }, expiresAt: { $gt: now }, hits: { $lt: limit } }
  const change: Document = { $inc: { hits: 1 }, $setOnInsert: { expiresAt: resetsAt } }
  try {
    return counted(await documents.findOneAndUpdate(filter, change, { ...after, upsert: true }))
  } catch (error) {
    // The key has a window, so nothing was inserted: it is full or has ended.
    if (isTaken(error)) return null
    throw error
  }
}

/** The refusal while the window that runs is full, else null. */
async function refuse(documents: Documents, hit: Hit): Promise<CounterResult | null> {
  const { key, limit, now, resetsAt } = hit
  const stored = await documents.findOne({ _id: { $eq: key } })
  const runs = stored !== null && Number(stored['expiresAt']) > now.getTime()
  if (runs && Number(stored['hits']) >= limit) return { ...resultOf(stored), allowed: false }
  // Nothing is counted under a limit of 0, so there is no window to keep.
  return limit > 0 ? null : { allowed: false, count: 0, resetsAt: resetsAt.getTime() }
}

/** Counts the first hit after a window that ended, unless another one is the first; else null. */
async function countAnew(documents: Documents, hit: Hit): Promise<CounterResult | null> {
  const { key, now, resetsAt } = hit
  const filter = { _id: { $eq: key }, expiresAt: { $lte: now } }
  const change = { $set: { hits: 1, expiresAt: resetsAt } }
  return counted(await documents.findOneAndUpdate(filter, change, after))
}

/** Two guarded writes, as no single one stops at 0. One of them holds unless the key is gone. */
async function handBack(documents: Documents, key: string, hits: number): Promise<void> {
  for (let tries = 0; tries < mostTries; tries++) {
    const enough = { _id: { $eq: key }, hits: { $gte: hits } }
    const less: Document = { $inc: { hits: -hits } }
    if ((await documents.updateOne(enough, less)).matchedCount > 0) return
    const fewer = { _id: { $eq: key }, hits: { $lt: hits } }
    if ((await documents.updateOne(fewer, { $set: { hits: 0 } })).matchedCount > 0) return
    if ((await documents.findOne({ _id: { $eq: key } })) === null) return
  }
  throw new Error('mongo: too many hits on one key at once')
}

function counted(stored: StoredDocument | null): CounterResult | null {
  return stored && { ...resultOf(stored), allowed: true }
}

function resultOf(stored: StoredDocument): Pick<CounterResult, 'count' | 'resetsAt'> {
  return { count: Number(stored['hits']), resetsAt: Number(stored['expiresAt']) }
}
