import { createServer } from 'node:http'
import express from 'express'
import { onTestFinished } from 'vitest'
import { expressRouter } from '../../../adapters/express.js'
import { systemPermissions } from '../../../examples/console/host/console-permissions.js'
import { operatorRoutes } from '../../../examples/console/host/operator-routes.js'
import { statusMetrics } from '../../../examples/console/host/status-metrics.js'
import { roleAuthorizer } from '../../../src/index.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { httpClient } from '../../support/hosts/http-client.js'
import { listen } from '../../support/hosts/running-host.js'
import { type TestOptions, testAuth } from '../../support/hosts/test-auth.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import type { Enrolled } from '../../support/people/authenticator.js'
import { administrator } from '../../support/people/service-account-steps.js'

/** The console's own routes below `/api`, beside the library's, without pages. Closed with the test. */
export async function operatorRoutesHost(options: TestOptions = {}): Promise<ContractHost> {
  const authorizer = roleAuthorizer({ systemPermissions })
  const t = await testAuth({ ...withoutLimits, authorizer, ...options })
  const metrics = statusMetrics(t.clock.now)
  const app = express().use(expressRouter(t.auth.both)).use('/api', operatorRoutes(t.auth, metrics))
  const running = await listen(createServer(app))
  const close = async () => {
    await running.close()
    await t.auth.close()
    await metrics.close()
  }
  onTestFinished(close)
  return { ...t, url: running.url, send: httpClient(running.url), close }
}

/** An operator with this system role, whose session has just shown a second factor. */
export async function operatorOf(host: ContractHost, systemRole: string): Promise<Enrolled> {
  const who = await administrator(host)
  await host.auth.operator.users.update(who.id, { systemRole })
  return who
}

/** An operator who holds these permissions by a role, whose session has just shown a second factor. */
export async function operatorWith(
  host: ContractHost,
  ...permissions: readonly string[]
): Promise<Enrolled> {
  const who = await administrator(host)
  await grant(host, who.id, permissions)
  return who
}

/** Binds a role of these permissions. */
export async function grant(
  { auth }: ContractHost,
  userId: string,
  permissions: readonly string[],
): Promise<void> {
  const { roles } = auth.operator
  const { id: roleId } = await roles.define({ name: permissions.join(' '), permissions })
  await roles.bind({ userId, roleId })
}

/** Asks the console's own routes as this user. */
export function caller(host: ContractHost, { bearer }: { readonly bearer: string }) {
  return (method: string, path: string, body?: object) =>
    host.send(method, `/api${path}`, { bearer, ...(body === undefined ? {} : { body }) })
}
