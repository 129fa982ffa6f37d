import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { freePort } from '../../support/hosts/free-port.js'
import { type RedisServer, spawnRedis } from '../../support/stores/redis.js'
import { withServer } from '../../support/stores/redis-clients.js'

/** A primary, a replica, and three sentinels that watch them and promote the replica when two of them miss the primary. */
export interface WatchedRedis {
  /** The name by which clients ask the sentinels for the primary. */
  readonly name: string
  readonly sentinels: readonly { readonly host: string; readonly port: number }[]
  readonly primary: RedisServer
  readonly replica: RedisServer
  remove(): Promise<void>
}

const name = 'main'
const watchers = 3

export async function spawnWatchedRedis(
  settings: Readonly<Record<string, string>>,
): Promise<WatchedRedis> {
  const primary = await spawnRedis(settings)
  const replica = await spawnRedis({ ...settings, replicaof: `127.0.0.1 ${primary.port}` })
  const sentinels = await Promise.all(
    Array.from({ length: watchers }, () => spawnSentinel(primary.port)),
  )
  for (const { port } of sentinels) await untilAllKnown(port)
  return {
    name,
    sentinels: sentinels.map(({ port }) => ({ host: '127.0.0.1', port })),
    primary,
    replica,
    async remove() {
      await Promise.all(sentinels.map((one) => one.remove()))
      await Promise.all([primary.remove(), replica.remove()])
    },
  }
}

async function spawnSentinel(primaryPort: number) {
  const folder = await mkdtemp(join(tmpdir(), 'postern-sentinel-'))
  const port = await freePort()
  const file = join(folder, 'sentinel.conf')
  // It writes what it learns into this file.
  await writeFile(
    file,
    [
      `port ${port}`,
      'bind 127.0.0.1',
      `dir ${folder}`,
      `sentinel monitor ${name} 127.0.0.1 ${primaryPort} 2`,
      `sentinel down-after-milliseconds ${name} 1000`,
      `sentinel failover-timeout ${name} 5000`,
      '',
    ].join('\n'),
  )
  const child = spawn('redis-server', [file, '--sentinel'], { stdio: 'ignore' })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  return {
    port,
    async remove() {
      process.off('exit', kill)
      kill()
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Until the sentinel answers, and knows the replica and both others: it fails over no sooner. */
async function untilAllKnown(port: number): Promise<void> {
  await withServer(`redis://127.0.0.1:${port}`, async (client: Redis) => {
    client.on('error', () => {})
    for (;;) {
      const text = String(await client.call('sentinel', 'master', name).catch(() => ''))
      const known = new RegExp(`num-slaves,1,num-other-sentinels,${watchers - 1}`).test(text)
      if (known) return
    }
  })
}
