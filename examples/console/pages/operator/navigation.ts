import { accountNavigation } from '../shared/account/account-pages.ts'
import type { NavigationEntry } from '../shared/page.ts'
import { configurationNavigation } from './configuration/configuration-pages.ts'

/** The lines of the operator surface, top to bottom. */
export const navigation: readonly NavigationEntry[] = [
  { path: '/users', label: 'Users' },
  { path: '/service-accounts', label: 'Service accounts' },
  { path: '/roles', label: 'Roles' },
  { path: '/audit', label: 'Audit log' },
  ...configurationNavigation,
  { path: '/status', label: 'Status' },
  ...accountNavigation,
  { path: '/sessions', label: 'Sessions' },
  { path: '/providers', label: 'Linked providers' },
]
