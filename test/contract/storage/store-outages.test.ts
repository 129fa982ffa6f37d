import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createPool } from 'mariadb'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { mariadb } from '../../../adapters/mariadb/index.js'
import { sqlite } from '../../../adapters/sqlite/index.js'
import type { Backend } from '../../../src/ports/backend.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import { freePort } from '../../support/hosts/free-port.js'
import { switchProxy } from '../../support/hosts/line-proxy.js'
import { openHost } from '../../support/hosts/open-host.js'
import { signedInApp } from '../../support/people/people.js'
import { refreshDoors } from '../../support/people/refresh-doors.js'
import { takeSpareTables } from '../../support/stores/spare-tables.js'

/** A store that can be out of reach. */
interface FragileStore {
  readonly backend: Backend
  leave(): Promise<void>
  comeBack(): Promise<void>
}

/** The connections break, and there is no server at their address. */
async function fragileMariadb(): Promise<FragileStore> {
  const tables = await takeSpareTables()
  onTestFinished(() => tables.putBack())
  const url = new URL(inject('mariadbUrl') ?? '')
  const port = Number(url.port || 3306)
  const proxy = await switchProxy(port)
  onTestFinished(() => proxy.close())
  url.port = String(proxy.port)
  const pool = createPool(`${url.href}?connectionLimit=3&connectTimeout=200&acquireTimeout=500`)
  onTestFinished(() => pool.end())
  const nobody = await freePort()
  return {
    backend: mariadb(pool, { tablePrefix: tables.tablePrefix }),
    leave: async () => proxy.leadTo(nobody),
    comeBack: async () => proxy.leadTo(port),
  }
}

/** Another process keeps the file. */
async function fragileSqlite(): Promise<FragileStore> {
  const folder = mkdtempSync(join(tmpdir(), 'postern-outage-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'auth.db')
  const database = new DatabaseSync(file)
  const other = new DatabaseSync(file)
  onTestFinished(() => {
    database.close()
    other.close()
  })
  const backend = sqlite(database)
  // A statement waits as long as this in place of two seconds.
  database.exec('pragma busy_timeout = 20')
  return {
    backend,
    leave: async () => other.exec('begin exclusive'),
    comeBack: async () => other.exec('rollback'),
  }
}

const noMariadb = inject('mariadbUrl') === null
const stores = [
  { name: noMariadb ? 'MariaDB (MariaDB not found)' : 'MariaDB', open: fragileMariadb },
  { name: 'SQLite', open: fragileSqlite },
]

describe.each(stores)('while $name is out of reach', ({ name, open }) => {
  it.skipIf(noMariadb && name.startsWith('MariaDB'))(
    'nobody gets in, and nobody is signed out',
    async () => {
      const { backend, leave, comeBack } = await open()
      const host = await openHost({ backend })
      const who = await signedInApp(host, 'client')
      const ended = await signedInApp(host, 'client')
      const me = (bearer: string) => host.send('GET', '/v1/auth/client/me', { bearer })
      const login = () => {
        const { email, password } = who
        const body = { email, password }
        return host.send('POST', '/v1/auth/client/mobile/login', { body })
      }
      await host.send('POST', '/v1/auth/client/logout', { bearer: ended.bearer })

      await leave()
      expectProblem(await login(), 503, 'service_unavailable')
      const refused = await refreshDoors.refresh(host, 'client', who)
      expectProblem(refused, 503, 'session_enforcement_unavailable')
      for (const { bearer } of [who, ended]) {
        expectProblem(await me(bearer), 503, 'session_enforcement_unavailable')
      }
      await comeBack()

      // The driver takes a moment to connect anew.
      await expect.poll(async () => (await me(who.bearer)).status).toBe(200)
      expectProblem(await me(ended.bearer), 401, 'session_revoked')
      const again = await refreshDoors.refresh(host, 'client', who)
      expect([again.status, again.headers.get('x-refresh-outcome')]).toEqual([200, 'rotated'])
      expect((await login()).status).toBe(200)
    },
  )
})
