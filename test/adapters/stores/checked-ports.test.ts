import type { Counter, Denylist, DenylistEntry, Lease } from 'postern'
import { memory } from 'postern/memory'
import { checkedPorts } from 'postern/stores'
import { describe, expect, it } from 'vitest'

/** Ports that note what reaches them. */
function noted() {
  const calls: unknown[][] = []
  const { denylist, lease, counter } = memory()
  const note = <Port extends object>(name: string, port: Port): Port =>
    new Proxy(port, {
      get(target, member, receiver) {
        const value: unknown = Reflect.get(target, member, receiver)
        if (typeof value !== 'function') return value
        return (...args: unknown[]) => {
          calls.push([`${name}.${String(member)}`, ...args])
          return Reflect.apply(value, target, args)
        }
      },
    })
  const ports = {
    denylist: note<Denylist>('denylist', denylist),
    lease: note<Lease>('lease', lease),
    counter: note<Counter>('counter', counter),
  }
  return { calls, ports: checkedPorts(ports) }
}

const entry: DenylistEntry = { id: 'client:session:a', reason: 'revoked', expiresAt: 5 }
const long = 'x'.repeat(256)

describe('checkedPorts', () => {
  it('hands on what the ports allow, as it is', async () => {
    const { ports, calls } = noted()
    const { denylist, lease, counter } = ports
    await denylist.put([entry])
    expect(await denylist.find([entry.id, 'b'])).toEqual([entry])
    expect(await lease.replace('sweep', null, { owner: 'me', renewal: 1 })).toBe(true)
    expect(await lease.read('sweep')).toEqual({ owner: 'me', renewal: 1 })
    const result = { allowed: true, count: 1, resetsAt: 1010 }
    expect(await counter.hit('a', 1000, 9, 10)).toEqual(result)
    expect(await counter.add?.('a', 1000, 9, 10, 3)).toEqual({ ...result, count: 4 })
    await counter.forgive('a', 2)
    await counter.forgive('a')
    expect(await denylist.sweep(5, 1)).toBe(1)
    expect(await counter.sweep(5000, 10)).toBe(0)
    expect(calls).toHaveLength(10)
  })

  it('merges entries of one id and sorts them, so that two callers lock in one order', async () => {
    const { ports, calls } = noted()
    await ports.denylist.put([
      { id: 'b', reason: 'max_age', expiresAt: 1 },
      { id: 'a', reason: 'revoked', expiresAt: 3 },
      { id: 'b', reason: 'revoked', expiresAt: 2 },
    ])
    await ports.denylist.put([])
    expect(calls).toEqual([
      [
        'denylist.put',
        [
          { id: 'a', reason: 'revoked', expiresAt: 3 },
          { id: 'b', reason: 'max_age', expiresAt: 2 },
        ],
      ],
    ])
  })

  it('leaves out what the port has not, and keeps what a backend can do', () => {
    const { counter, denylist, ...rest } = memory()
    const { add: _, ...without } = counter
    const counterWithout: Counter = without
    const plain = checkedPorts({ ...rest, denylist, counter: counterWithout })
    expect(plain.counter.add).toBeUndefined()
    expect(checkedPorts({ ...rest, denylist, counter }).counter.add).toBeTypeOf('function')
    const grouped = checkedPorts({
      ...rest,
      counter,
      denylist: { ...denylist, findsInGroups: true },
    })
    expect(grouped.denylist.findsInGroups).toBe(true)
    // A guarded request that waits for nothing still does not.
    expect(plain.denylist.find(['a']).atOnce).toEqual({ value: [] })
  })

  type Ports = ReturnType<typeof noted>['ports']
  const refused: readonly (readonly [
    string,
    (ports: Ports) => PromiseLike<unknown> | undefined,
  ])[] = [
    [
      'an entry with an id that is too long',
      ({ denylist }) => denylist.put([{ ...entry, id: long }]),
    ],
    [
      'an entry without a time',
      ({ denylist }) => denylist.put([{ ...entry, expiresAt: Number.NaN }]),
    ],
    // @ts-expect-error: what no compiler checked
    ['an entry with another reason', ({ denylist }) => denylist.put([{ ...entry, reason: 'x' }])],
    ['an id with NUL', ({ denylist }) => denylist.find(['\0'])],
    ['a sweep without a limit', ({ denylist }) => denylist.sweep(1, 0)],
    ['a lease without a name that fits', ({ lease }) => lease.read(long)],
    ['half a renewal', ({ lease }) => lease.replace('a', null, { owner: null, renewal: 0.5 })],
    [
      'an owner that is too long',
      ({ lease }) => lease.replace('a', { owner: long, renewal: 1 }, { owner: null, renewal: 2 }),
    ],
    ['a window of no time', ({ counter }) => counter.hit('a', 0, 1, 1)],
    ['a limit below zero', ({ counter }) => counter.add?.('a', 1, -1, 1, 1)],
    ['no hits', ({ counter }) => counter.add?.('a', 1, 1, 1, 0)],
    ['half a hit', ({ counter }) => counter.forgive('a', 0.5)],
    ['a sweep of no time', ({ counter }) => counter.sweep(Number.NaN, 1)],
  ]

  it.each(refused)('refuses %s, and calls nothing', async (_, call) => {
    const { ports, calls } = noted()
    await expect(Promise.resolve(call(ports))).rejects.toBeInstanceOf(TypeError)
    expect(calls).toEqual([])
  })
})
