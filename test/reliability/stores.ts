import { describe, inject } from 'vitest'
import { memory } from '../../adapters/memory/index.js'
import { startHost } from './host.js'
import { type Host, hostAt } from './host-client.js'
import { lineFrom } from './moving-clock.js'
import { newKey, newPlace, type ReplicaSettings, startReplicas } from './replicas.js'

export const stores = ['postgres', 'memory'] as const
/** What races and crashes are decided by has to hold on every one. */
export const everyStore = [...stores, 'mongo', 'redis', 'mariadb', 'sqlite'] as const
export type StoreName = (typeof everyStore)[number]

/** Hosts that share one backend and one line of time. */
export interface OpenHosts {
  readonly hosts: readonly Host[]
  close(): Promise<void>
}

/** Processes on one database, or instances of the library over one memory in this process. */
export async function openHosts(
  store: StoreName,
  count: number,
  options: ReplicaSettings = {},
): Promise<OpenHosts> {
  if (store !== 'memory') {
    const replicas = await startReplicas(count, newPlace(store), options)
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

/** Milliseconds: a machine that is slow for a moment must not turn a race into an outage. */
export const patient = 60_000

/** A `describe` that is skipped, and says why, where its store needs a server and there is none. */
export function describeOn(store: StoreName, title: string, suite: () => void): void {
  const missing = {
    memory: false,
    postgres: inject('postgresUrl') === null && 'Postgres not found',
    mongo: inject('mongo') === null && 'MongoDB not found',
    redis: inject('redisUrl') === null && 'Redis not found',
    mariadb: inject('mariadbUrl') === null && 'MariaDB not found',
    sqlite: false,
  }[store]
  describe.skipIf(missing !== false)(missing === false ? title : `${title} (${missing})`, suite)
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
