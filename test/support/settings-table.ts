import type { FieldDeclaration } from '../../src/engine/configuration/config-declaration.js'
import { authSettingDeclarations, findSetting } from '../../src/settings/index.js'

const head = [
  '| | default | may be | surface | first value from |',
  '| --- | --- | --- | --- | --- |',
]

/** What `docs/settings.md` says of each setting, group by group: the declarations, as tables. */
export function settingsTables(): string {
  const groups = [...new Set(authSettingDeclarations.map(({ group }) => group))]
  return groups
    .map((group) => {
      const rows = authSettingDeclarations.filter((field) => field.group === group).map(rowOf)
      return [`### ${group}`, '', ...head, ...rows].join('\n')
    })
    .join('\n\n')
}

function rowOf(field: FieldDeclaration): string {
  const { key, label, type, default: usual = '', surface = 'both', envVar, items = [] } = field
  const form = (findSetting(key)?.form ?? '')
    .replace(/^must (be )?/, '')
    .replace(/, such as .*/, '')
  const parts = items.map(
    (item) => `\`${item.key}\`${item.type === 'FieldSecret' ? ' (secret)' : ''}`,
  )
  const values = [
    ...(type === 'FieldSecret' ? [`secret: ${form}`] : [form]),
    ...(parts.length > 0 ? [`of ${parts.join(', ')}`] : []),
  ]
  return `| ${[
    `\`${key}\` ${label}`,
    usual === '' ? '' : `\`${usual}\``,
    values.join(' '),
    surface,
    envVar === undefined ? '' : `\`${envVar}\``,
  ].join(' | ')} |`
}
