// A host that is a library itself: with `declaration`, the compiler has to name what these hand out.
import type { Auth, AuthEvent, MailedLink, MintedAccess, Principal, Users } from 'postern'
import { createClient } from 'postern/client'
import { createMobileClient } from 'postern/client/mobile'
import { expressGuards, expressRouter } from 'postern/express'
import { fastifyGuards, fastifyRouter } from 'postern/fastify'
import { fetchGuards, fetchHandler } from 'postern/fetch'
import { koaGuards, koaRouter } from 'postern/koa'

export const guards = ({ operator, client }: Auth) => ({
  express: expressGuards(operator),
  fastify: fastifyGuards(client),
  fetch: fetchGuards(operator),
  koa: koaGuards(client),
})

export const mounted = ({ both }: Auth) => ({
  express: expressRouter(both),
  fastify: fastifyRouter(both),
  fetch: fetchHandler(both),
  koa: koaRouter(both),
})

export const parts = ({ keys, config, client, operator }: Auth) => ({
  keys,
  config,
  ...client,
  machines: operator.serviceAccounts,
})

export const claims = ({ claims }: Principal) => claims
export const login = (event: AuthEvent) => (event.type === 'login.succeeded' ? event : null)
export const bearer = ({ access }: MintedAccess) => access
export const url = (link: MailedLink) => link
export const tenants = async (users: Users, id: string) => (await users.get(id))?.memberships
export const clients = [createClient, createMobileClient] as const
