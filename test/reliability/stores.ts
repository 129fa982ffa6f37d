import { describe, inject } from 'vitest'
import { memory } from '../../adapters/memory.js'
import { startHost } from './host.js'
import { type Host, hostAt } from './host-client.js'
import { lineFrom } from './moving-clock.js'
import type { ReplicaConfig } from './replica.js'
import { newKey, startReplicas } from './replicas.js'

export const stores = ['postgres', 'memory'] as const
export type StoreName = (typeof stores)[number]

/** Hosts that share one backend and one line of time. */
export interface OpenHosts {
  readonly hosts: readonly Host[]
  close(): Promise<void>
}

/** Processes on one Postgres, or instances of the library over one memory in this process. */
export async function openHosts(
  store: StoreName,
  count: number,
  options: Partial<ReplicaConfig> = {},
): Promise<OpenHosts> {
  if (store === 'postgres') {
    const replicas = await startReplicas(count, inject('postgresUrl') ?? '', options)
    return {
      hosts: replicas,
      close: async () => void (await Promise.all(replicas.map((it) => it.stop()))),
    }
  }
  const backend = memory()
  const keys = { current: newKey() }
  const config = { clock: lineFrom(Date.now()), options: {}, planted: null, ...options }
  const running = await Promise.all(
    Array.from({ length: count }, () => startHost(backend, keys, config)),
  )
  const hosts = running.map((host) => hostAt(host.url))
  return {
    hosts,
    async close() {
      for (const host of hosts) host.hangUp()
      await Promise.all(running.map((host) => host.close()))
    },
  }
}

/** A `describe` that is skipped, and says why, where its store needs a Postgres and there is none. */
export function describeOn(store: StoreName, title: string, suite: () => void): void {
  const skipped = store === 'postgres' && inject('postgresUrl') === null
  describe.skipIf(skipped)(skipped ? `${title} (Postgres not found)` : title, suite)
}

/** `hosts[index]`, around and around. */
export function at<T>(items: readonly T[], index: number): T {
  const item = items[index % items.length]
  if (item === undefined) throw new RangeError('there are none')
  return item
}

/** Runs `work` for 0 to `count - 1`, at most `lanes` at a time. */
export async function inLanes(
  count: number,
  lanes: number,
  work: (index: number) => Promise<void>,
): Promise<void> {
  let begun = 0
  const lane = async () => {
    while (begun < count) {
      begun += 1
      await work(begun - 1)
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}
