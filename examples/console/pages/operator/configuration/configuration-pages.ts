import type { NavigationEntry } from '../../shared/page.ts'
import type { OperatorPage } from '../operator-page.ts'
import { environmentPage } from './environment-page.ts'
import { historyPage } from './history-page.ts'
import { modulePage } from './module-page.ts'
import { modulesPage } from './modules-page.ts'

export const configurationPages: readonly OperatorPage[] = [
  modulesPage,
  modulePage,
  environmentPage,
  historyPage,
]

export const configurationNavigation: readonly NavigationEntry[] = [
  { path: '/configuration', label: 'Configuration' },
]
