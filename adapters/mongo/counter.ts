import type { Document } from 'mongodb'
import type { AddCall } from '../../src/checks/check-call.js'
import type { Counter, CounterResult } from '../../src/ports/backend.js'
import type { CollectionSpec, Doc } from '../../src/ports/store.js'
import { counterOf } from '../shared/checked-calls.js'
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

interface Hits {
  readonly key: string
  readonly hits: number
  readonly limit: number
  readonly now: Date
  readonly resetsAt: Date
}

// A try fails only when another caller's hit, forgiving or sweep succeeded.
const mostTries = 100

const after = { returnDocument: 'after', includeResultMetadata: false } as const

/**
 * Hits that open a window or find room in a running one are one command, refused ones two. Hits of which only some
 * find room are three, and so are those that follow an ended window. One command for all of them would need an
 * update by pipeline, which not every server of this protocol has.
 */
export function mongoCounter({ open }: BoundCollection): Counter {
  async function count([key, , limit, now, hits]: AddCall, ends: number): Promise<CounterResult> {
    const asked = { key, hits, limit, now: new Date(now), resetsAt: new Date(ends) }
    const documents = await open()
    for (let tries = 0; tries < mostTries; tries++) {
      const counted =
        (await countOn(documents, asked)) ??
        (await refuse(documents, asked)) ??
        (await countAnew(documents, asked))
      if (counted) return counted
    }
    throw new Error('mongo: too many hits on one key at once')
  }

  return counterOf({
    count,
    forget: async (key) => (await open()).deleteOne({ _id: { $eq: key } }),
    handBack: async (key, hits) => handBack(await open(), key, hits),
    sweep: async (before, limit) => (await removeExpired(await open(), before, limit)).removed,
  })
}

/** Counts in a running window with room, or in a new one where the key has none; else null. */
async function countOn(documents: Documents, asked: Hits): Promise<CounterResult | null> {
  const { key, hits, limit, now, resetsAt } = asked
  if (limit === 0) return null
  const filter = { _id: { $eq: key }, expiresAt: { $gt: now }, hits: { $lte: limit - hits } }
  const opened = { expiresAt: resetsAt }
  // More hits than the limit fit into no running window, and fill a new one.
  const change: Document =
    hits > limit
      ? { $setOnInsert: { ...opened, hits: limit } }
      : { $inc: { hits }, $setOnInsert: opened }
  try {
    const stored = await documents.findOneAndUpdate(filter, change, { ...after, upsert: true })
    return counted(stored, hits <= limit)
  } catch (error) {
    // The key has a window, so nothing was inserted: it is full or has ended.
    if (isTaken(error)) return null
    throw error
  }
}

/** The refusal while a window runs that has no room for all the hits, else null. */
async function refuse(documents: Documents, asked: Hits): Promise<CounterResult | null> {
  const { key, hits, limit, now, resetsAt } = asked
  const stored = await documents.findOne({ _id: { $eq: key } })
  const runs = stored !== null && Number(stored['expiresAt']) > now.getTime()
  if (runs && Number(stored['hits']) >= limit) return counted(stored, false)
  if (runs && Number(stored['hits']) + hits > limit) return fill(documents, stored, limit)
  // Nothing is counted under a limit of 0, so there is no window to keep.
  return limit > 0 ? null : { allowed: false, count: 0, resetsAt: resetsAt.getTime() }
}

/** Counts those hits that still fit, unless the window has changed since it was read; else null. */
async function fill(
  documents: Documents,
  { _id, hits, expiresAt }: StoredDocument,
  limit: number,
): Promise<CounterResult | null> {
  const filter = { _id: { $eq: _id }, hits: { $eq: hits }, expiresAt: { $eq: expiresAt } }
  return counted(await documents.findOneAndUpdate(filter, { $set: { hits: limit } }, after), false)
}

/** Counts the first hits after a window that ended, unless others are the first; else null. */
async function countAnew(documents: Documents, asked: Hits): Promise<CounterResult | null> {
  const { key, hits, limit, now, resetsAt } = asked
  const filter = { _id: { $eq: key }, expiresAt: { $lte: now } }
  const change = { $set: { hits: Math.min(hits, limit), expiresAt: resetsAt } }
  return counted(await documents.findOneAndUpdate(filter, change, after), hits <= limit)
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

function counted(stored: StoredDocument | null, allowed: boolean): CounterResult | null {
  if (stored === null) return null
  return { allowed, count: Number(stored['hits']), resetsAt: Number(stored['expiresAt']) }
}
