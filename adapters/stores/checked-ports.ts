import {
  checkAdd,
  checkExpiry,
  checkForgive,
  checkHit,
  checkId,
} from '../../src/checks/check-call.js'
import type { Backend, Counter, Denylist, Lease, LeaseRecord } from '../../src/ports/backend.js'
import { entriesToPut } from '../shared/denylist-entries.js'

/**
 * Wraps the denylist, the lease and the counter of your own adapter and checks the arguments of every call, as
 * `checkedStore` does for the store. A call that a port forbids rejects with a `TypeError` before your code is called. The
 * denylist gets each id once, sorted, with the first reason and the later expiry. The store stays as it is.
 */
export function checkedPorts<Own extends Pick<Backend, 'denylist' | 'lease' | 'counter'>>(
  own: Own,
): Own {
  const { denylist, lease, counter } = own
  return {
    ...own,
    denylist: checkedDenylist(denylist),
    lease: checkedLease(lease),
    counter: checkedCounter(counter),
  }
}

function checkedDenylist(inner: Denylist): Denylist {
  return {
    ...(inner.findsInGroups === undefined ? {} : { findsInGroups: inner.findsInGroups }),
    async put(entries) {
      const checked = entriesToPut(entries)
      if (checked.length > 0) await inner.put(checked)
    },
    // Not `async`: what answers at once is handed on as it is.
    find(ids) {
      try {
        for (const id of ids) checkId(id, 'denylist.find')
        return inner.find(ids)
      } catch (error) {
        return Promise.reject(error)
      }
    },
    async sweep(before, limit) {
      checkExpiry('denylist.sweep', before, limit)
      return inner.sweep(before, limit)
    },
    ...inspection(inner),
  }
}

function checkedLease(inner: Lease): Lease {
  return {
    async read(name) {
      checkId(name, 'lease.read')
      return inner.read(name)
    },
    async replace(name, seen, next) {
      checkId(name, 'lease.replace')
      for (const record of [seen, next]) checkRecord(record)
      return inner.replace(name, seen, next)
    },
    ...inspection(inner),
  }
}

/** The one call without arguments is handed on where the port has it. */
function inspection({ inspect }: Pick<Denylist, 'inspect'>): Pick<Denylist, 'inspect'> {
  return inspect === undefined ? {} : { inspect }
}

function checkRecord(record: LeaseRecord | null): void {
  if (record === null) return
  if (record.owner !== null) checkId(record.owner, 'lease.replace, "owner"')
  if (!Number.isSafeInteger(record.renewal)) {
    throw new TypeError('lease.replace: "renewal" must be an integer')
  }
}

function checkedCounter(inner: Counter): Counter {
  const checked: Counter = {
    async hit(...call) {
      checkHit(...call)
      return inner.hit(...call)
    },
    async forgive(key, hits) {
      checkForgive(key, hits)
      return hits === undefined ? inner.forgive(key) : inner.forgive(key, hits)
    },
    async sweep(before, limit) {
      checkExpiry('counter.sweep', before, limit)
      return inner.sweep(before, limit)
    },
    ...inspection(inner),
  }
  // A counter without `add` has to stay one: the library asks.
  if (inner.add === undefined) return checked
  const add = inner.add.bind(inner)
  return {
    ...checked,
    async add(...call) {
      checkAdd(...call)
      return add(...call)
    },
  }
}
