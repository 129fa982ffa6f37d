import type { Counter, CounterResult } from '../ports/backend.js'
import type { Page } from '../ports/store.js'
import { isText, isTime, longestKey } from './check-value.js'
import type { Shape } from './shape.js'

/** Ids and keys reach drivers as they are, so what a database cannot hold is refused here. */
export function checkId(id: string, place: string): void {
  if (!isText(id)) throw new TypeError(`${place}: an id is text without NUL and lone surrogates`)
  if (id.length > longestKey) {
    throw new TypeError(`${place}: an id is at most ${longestKey} UTF-16 code units`)
  }
}

export function checkPage(shape: Shape, page: Page): void {
  if (!Number.isInteger(page.limit) || page.limit < 1 || page.limit > 1000) {
    throw new TypeError(`${shape.name}.find: "limit" must be 1 to 1,000`)
  }
  if (page.after !== undefined) checkId(page.after, `${shape.name}.find, after`)
}

/** For `due` and `sweep`. */
export function checkExpiry(place: string, before: number, limit: number): void {
  if (!isTime(before)) throw new TypeError(`${place}: "before" must be epoch milliseconds`)
  if (!Number.isSafeInteger(limit) || limit < 1) {
    throw new TypeError(`${place}: "limit" must be a positive integer`)
  }
}

export function checkSweep(shape: Shape, before: number, limit: number): void {
  checkExpiry(`${shape.name}.sweep`, before, limit)
  if (shape.expires === 'never' || shape.expires === 'due') {
    throw new TypeError(`${shape.name}.sweep: a "${shape.expires}" collection is never swept`)
  }
}

/** Returns when a window that starts at `now` ends. */
export function checkHit(
  key: string,
  windowMs: number,
  limit: number,
  now: number,
): CounterResult['resetsAt'] {
  return checkCount('counter.hit', [key, windowMs, limit, now])
}

/** What `Counter.add` is called with. */
export type AddCall = Parameters<NonNullable<Counter['add']>>

/** Returns when a window that starts at `now` ends. */
export function checkAdd(...[key, windowMs, limit, now, hits]: AddCall): CounterResult['resetsAt'] {
  if (!Number.isSafeInteger(hits) || hits < 1) {
    throw new TypeError('counter.add: "hits" must be a positive integer')
  }
  return checkCount('counter.add', [key, windowMs, limit, now])
}

function checkCount(
  place: string,
  [key, windowMs, limit, now]: Parameters<Counter['hit']>,
): CounterResult['resetsAt'] {
  checkId(key, place)
  if (!Number.isSafeInteger(windowMs) || windowMs < 1) {
    throw new TypeError(`${place}: "windowMs" must be a positive integer`)
  }
  if (!Number.isSafeInteger(limit) || limit < 0) {
    throw new TypeError(`${place}: "limit" must be an integer of 0 or more`)
  }
  const resetsAt = now + windowMs
  if (!isTime(now) || !isTime(resetsAt)) {
    throw new TypeError(`${place}: "now" must be epoch milliseconds`)
  }
  return resetsAt
}

export function checkForgive(key: string, hits: number | undefined): void {
  checkId(key, 'counter.forgive')
  if (hits !== undefined && (!Number.isSafeInteger(hits) || hits < 1)) {
    throw new TypeError('counter.forgive: "hits" must be a positive integer')
  }
}
