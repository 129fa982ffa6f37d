import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type Request } from 'express'
import { type Auth, type AuthOptions, createAuth, roleAuthorizer } from 'postern'
import { expressRouter } from 'postern/express'
import { systemPermissions } from './console-permissions.ts'
import { pageHeaders } from './headers.ts'
import { type ConsoleMailer, mailBox } from './mail-box.ts'
import { mailRoutes } from './mail-routes.ts'
import { operatorRoutes } from './operator-routes.ts'
import { ownAccountRoutes } from './own-account-routes.ts'
import { consolePages } from './pages.ts'
import { shop } from './shop-module.ts'
import { statusMetrics } from './status-metrics.ts'

export interface ConsoleHostOptions
  extends Omit<AuthOptions, 'surfaces' | 'authorizer' | 'settings' | 'mailer'>,
    Pick<Partial<AuthOptions>, 'settings'> {
  /** Gets each mail in words too. */
  readonly mailer: ConsoleMailer
  /** The port, which this machine alone can reach; 0 takes a free one. */
  readonly port: number
  /** More options of each surface, such as limits. */
  readonly surface?: Partial<AuthOptions['surfaces']['client']>
}

export interface ConsoleHost {
  readonly auth: Auth
  /** Where end users go. */
  readonly clientUrl: string
  /** Where staff goes. */
  readonly operatorUrl: string
  close(): Promise<void>
}

/**
 * Starts a host with pages for both surfaces, each at a name of its own: `localhost` and `operator.localhost`.
 * Rejects where the port is taken.
 */
export async function consoleHost(options: ConsoleHostOptions): Promise<ConsoleHost> {
  const { port: wanted, surface, settings, mailer, ...rest } = options
  // The address has to be known before there is anything to serve.
  let serve: RequestListener = (_request, response) => response.writeHead(503).end()
  const server = createServer((request, response) => serve(request, response))
  const port = await listening(server, wanted)
  const clientUrl = `http://localhost:${port}`
  const operatorUrl = `http://operator.localhost:${port}`
  const now = () => options.clock?.now() ?? Date.now()
  const mails = mailBox(mailer, now)
  const metrics = statusMetrics(now)
  const auth = await createAuth({
    ...rest,
    meterProvider: metrics.meterProvider,
    surfaces: {
      operator: { ...surface, baseUrl: operatorUrl },
      client: { mailedCode: true, ...surface, baseUrl: clientUrl },
    },
    mailer: mails,
    modules: [shop],
    // The first operator's `systemRole`, `super_admin`, grants the library's permissions and the console's.
    authorizer: roleAuthorizer({ systemPermissions }),
    settings: { ...firstSettings(clientUrl, operatorUrl), ...settings },
  })
  await auth.migrate()

  const isOperator = ({ hostname }: Request) => hostname === 'operator.localhost'
  const app = express().disable('x-powered-by')
  app.use((request, response, next) => {
    // Another name for this machine would be another site's, pointed at it.
    if (isOperator(request) || request.hostname === 'localhost') next()
    else response.status(404).type('text').send(`Open ${clientUrl} or ${operatorUrl}\n`)
  })
  app.use(expressRouter(auth.both))
  app.use(pageHeaders)
  app.use('/demo/mails', mailRoutes(mails))
  const forOperators = operatorRoutes(auth, metrics)
  const forClients = ownAccountRoutes(auth)
  app.use('/api', (request, response, next) => {
    const routes = isOperator(request) ? forOperators : forClients
    routes(request, response, next)
  })
  app.use(await consolePages(isOperator))
  serve = app

  return {
    auth,
    clientUrl,
    operatorUrl,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await auth.close()
      await metrics.close()
    },
  }
}

/** What the demo has switched on. Operators may change it while it runs. */
function firstSettings(clientUrl: string, operatorUrl: string): AuthOptions['settings'] {
  return {
    webauthnMode: 'passwordless',
    totpIssuer: 'Postern demo',
    // Where identity providers send browsers back to, once one is switched on.
    oauthRedirectTargets: [
      { slug: 'client', uri: `${clientUrl}/signed-in`, surface: 'client', flow: 'web' },
      { slug: 'operator', uri: `${operatorUrl}/signed-in`, surface: 'operator', flow: 'web' },
      { slug: 'linked', uri: `${operatorUrl}/providers`, surface: 'operator', flow: 'web' },
      { slug: 'own', uri: `${clientUrl}/providers`, surface: 'client', flow: 'web' },
    ],
  }
}

async function listening(server: Server, port: number): Promise<number> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}
