import type { Lease } from '../../../src/ports/lease.js'
import type { WrongAdapter } from './wrong-adapter.js'

function wrong(
  fault: string,
  found: readonly string[],
  change: (right: Lease) => Partial<Lease>,
): WrongAdapter {
  return { fault, found, twist: ({ lease }) => ({ lease: { ...lease, ...change(lease) } }) }
}

export const wrongLeases: readonly WrongAdapter[] = [
  wrong(
    'a lease that compares owners only',
    [
      'replace needs exactly the record it saw',
      'the fencing number grows from holder to holder and old sights never win',
    ],
    (right) => ({
      async replace(name, seen, next) {
        const stored = await right.read(name)
        if (stored?.owner !== seen?.owner) return false
        return right.replace(name, stored, next)
      },
    }),
  ),
  wrong(
    'a lease that reads, then writes',
    [
      'of eight racers that saw no record, one creates it',
      'of eight racers that saw one record, one replaces it',
    ],
    (right) => ({
      async replace(name, seen, next) {
        const stored = await right.read(name)
        if (stored?.owner !== seen?.owner || stored?.renewal !== seen?.renewal) return false
        // However the record has changed since: a blind write.
        while (!(await right.replace(name, await right.read(name), next)));
        return true
      },
    }),
  ),
  wrong(
    'a lease whose release starts the numbers anew',
    ['the fencing number grows from holder to holder and old sights never win'],
    (right) => ({
      replace: (name, seen, next) => {
        return right.replace(name, seen, next.owner === null ? { ...next, renewal: 0 } : next)
      },
    }),
  ),
  wrong(
    'a lease that reads as released when nobody ever held it',
    ['a lease nobody ever held reads as null'],
    (right) => ({
      async read(name) {
        return (await right.read(name)) ?? { owner: null, renewal: 0 }
      },
    }),
  ),
  wrong(
    'leases of all names in one record',
    ['replace creates the record when null was seen'],
    (right) => ({
      read: () => right.read('lease'),
      replace: (_name, seen, next) => right.replace('lease', seen, next),
    }),
  ),
  wrong(
    'a released lease that may be created',
    ['replace that saw null fails once there is a record, even a released one'],
    (right) => ({
      async replace(name, seen, next) {
        const stored = await right.read(name)
        return right.replace(name, stored?.owner === null ? (seen ?? stored) : seen, next)
      },
    }),
  ),
]
