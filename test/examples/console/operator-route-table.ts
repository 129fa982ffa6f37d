import type { ConsolePermission } from '../../../examples/console/host/console-permissions.js'

/** A route of the console, and what it asks for. */
export interface GuardedRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** As it is declared. */
  readonly path: string
  readonly permission: ConsolePermission
  readonly changes: boolean
  /** A request that the form of the route allows: query and body. */
  readonly query?: string
  readonly body?: object
  /** What is no such request: a body, or a query that begins with `?`. */
  readonly malformed: readonly (object | string)[]
}

const users = { permission: 'console.users.manage', changes: true } as const
const seesUsers = { permission: 'console.users.read', changes: false } as const
const roles = { permission: 'console.roles.manage', changes: true } as const
const seesRoles = { permission: 'console.roles.read', changes: false } as const

const pages = ['?limit=0', '?limit=101', '?limit=1e1', '?limit=1&limit=2', '?after=', '?colour=red']

/** Every route of `operatorRoutes`. */
export const operatorRouteTable: readonly GuardedRoute[] = [
  { method: 'GET', path: '/users/:surface', ...seesUsers, malformed: [...pages, '?email='] },
  { method: 'GET', path: '/users/:surface/:id', ...seesUsers, malformed: [] },
  {
    method: 'PATCH',
    path: '/users/:surface/:id',
    ...users,
    body: { enabled: false },
    malformed: [
      {},
      { enabled: 'no' },
      { name: 'Eve', systemRole: 'super_admin' },
      { name: 'x'.repeat(201) },
    ],
  },
  { method: 'DELETE', path: '/users/:surface/:id', ...users, malformed: [] },
  { method: 'POST', path: '/users/:surface/:id/mfa-reset', ...users, malformed: [] },
  { method: 'DELETE', path: '/users/:surface/:id/identities/:identityId', ...users, malformed: [] },
  { method: 'DELETE', path: '/users/:surface/:id/sessions', ...users, malformed: [] },
  { method: 'DELETE', path: '/users/:surface/:id/sessions/:sessionId', ...users, malformed: [] },
  {
    method: 'PUT',
    path: '/users/operator/:id/system-role',
    ...roles,
    body: { systemRole: 'guest' },
    malformed: [
      {},
      { systemRole: '' },
      { systemRole: ['guest'] },
      { systemRole: 'guest', name: 'x' },
    ],
  },
  {
    method: 'GET',
    path: '/roles/:surface',
    ...seesRoles,
    malformed: ['?tenantId=', '?tenant=acme'],
  },
  {
    method: 'PUT',
    path: '/roles/:surface',
    ...roles,
    body: { name: 'support', permissions: [] },
    malformed: [
      {},
      { name: 'support', permissions: 'all' },
      { name: 'support', permissions: ['orders.*'] },
      { name: ' support', permissions: [] },
      { name: 'support', permissions: [], tenantId: '' },
    ],
  },
  { method: 'DELETE', path: '/roles/:surface/:roleId', ...roles, malformed: [] },
  { method: 'GET', path: '/bindings/:surface/:userId', ...seesRoles, malformed: [] },
  {
    method: 'PUT',
    path: '/bindings/:surface/:userId/:roleId',
    ...roles,
    body: {},
    malformed: [{ tenantId: '' }, { tenantId: null }, { tenant: 'acme' }],
  },
  {
    method: 'DELETE',
    path: '/bindings/:surface/:userId/:roleId',
    ...roles,
    malformed: ['?tenantId='],
  },
  { method: 'GET', path: '/registrations/:surface', ...seesUsers, malformed: pages },
  { method: 'POST', path: '/registrations/:surface/:id/resend', ...users, malformed: [] },
  { method: 'DELETE', path: '/registrations/:surface/:id', ...users, malformed: [] },
  {
    method: 'GET',
    path: '/audit/:surface',
    permission: 'console.audit.read',
    changes: false,
    query: '?account=0191f3a0-0000-7000-8000-000000000000',
    malformed: [
      '',
      '?account=',
      '?account=x&of=everything',
      '?account=x&outcome=bad',
      '?account=x&limit=x',
    ],
  },
  {
    method: 'GET',
    path: '/status',
    permission: 'console.status.read',
    changes: false,
    malformed: [],
  },
]
