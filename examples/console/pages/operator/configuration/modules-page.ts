import { element } from '../../shared/element.ts'
import { table } from '../../shared/table.ts'
import type { OperatorPage } from '../operator-page.ts'

/** The modules that can be configured: the library's own, and those of the host. */
export const modulesPage: OperatorPage = {
  path: '/configuration',
  title: 'Configuration',
  audience: 'user',
  async render(main, { operator, signal }) {
    const { items } = await operator.call('GET /v1/admin/modules', {}, { signal })
    const rows = items.map(({ name, activeEnvironment, needsRestart }) => [
      element('a', { href: `/configuration/${encodeURIComponent(name)}` }, name),
      activeEnvironment,
      needsRestart ? 'Needed' : 'Not needed',
    ])
    main.append(
      element(
        'section',
        {},
        table({
          caption: 'Modules, each a set of settings with environments of its own',
          heads: ['Module', 'Active environment', 'Restart'],
          rows,
          none: 'There are no modules.',
        }),
      ),
    )
  },
}
