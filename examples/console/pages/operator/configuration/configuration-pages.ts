import type { NavigationEntry } from '../../shared/page.ts'
import type { OperatorContext, OperatorPage } from '../operator-page.ts'
import { withPermission } from '../shared/with-permission.ts'
import { environmentPage } from './environment-page.ts'
import { historyPage } from './history-page.ts'
import { modulePage } from './module-page.ts'
import { modulesPage } from './modules-page.ts'

const all: readonly OperatorPage[] = [modulesPage, modulePage, environmentPage, historyPage]

export const configurationPages: readonly OperatorPage[] = all.map((page) => ({
  ...page,
  render: withPermission<OperatorContext>('system.modules.read', page.render),
}))

export const configurationNavigation: readonly NavigationEntry[] = [
  { path: '/configuration', label: 'Configuration' },
]
