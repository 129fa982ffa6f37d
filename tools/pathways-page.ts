import { markdownTable } from '../bench/harness/text-table.js'
import type { Operation } from '../src/operations/operation.js'
import type { Pathway, Strength } from '../test/contract/pathways/pathway.js'

/** What the page needs of the table that the tests walk. */
interface Table {
  readonly pathways: readonly Pathway[]
  /** The names of the controls, in their order. */
  readonly controls: readonly string[]
}

const introduction = `# Ways in

This page lists every way to get tokens, how strong it is, and what each control makes of it. \`npm run generate\` writes
it from the table that the tests walk on both surfaces. [Second factors](second-factors.md), [OAuth](oauth.md) and
[sessions](sessions.md) say how each works.

- **Factors** are of different kinds: what a person knows, has or is.
- **Resists phishing** says whether what a person shows to a page of another origin is worth nothing here. Passkeys do:
  a browser uses one only on the origin that it was made for.
- **AAL** is the authenticator assurance level of NIST SP 800-63B-4 that a login can count as, at most. 3 needs keys that
  cannot be copied. The library does not ask whether a passkey can be copied, so no way reaches 3. A provider counts as
  one factor of level 1, whatever it asked for.
- **\`amr\`** is the claim of the access token (RFC 8176). \`mfa\` is in it exactly where two factors were shown.

To have one strength on every way, change these [settings](settings.md): \`mfaPolicyOperator\` and \`mfaPolicyClient\`
\`required\` ask for two factors at each login of a person; \`trustedDeviceOperatorEnabled\` and
\`trustedDeviceClientEnabled\` \`false\` let no device skip the second factor; \`webauthnMode\` \`passwordless\` lets a
passkey stand for both; \`passwordLoginOperatorEnabled\` and \`passwordLoginClientEnabled\` \`false\` take passwords away.
`

function requestOf({ flow }: Pathway, operations: readonly Operation[]): string {
  const found = operations.find(({ id }) => id === flow.of)
  if (found === undefined) throw new Error(`no operation is called ${flow.of}`)
  return `\`${found.method} ${found.path}\``
}

function strengthCells({ shows, factors, resistsPhishing, aal, amr }: Strength): readonly string[] {
  const level = aal === null ? '–' : String(aal)
  const claim = amr === null ? 'no session' : `\`[${amr.join(', ')}]\``
  return [shows, factors === null ? '–' : String(factors), resistsPhishing, level, claim]
}

/** A refusal or a status in code; the reason where the control cannot stand in the way. */
function given(made: Pathway['cells'][keyof Pathway['cells']]): string {
  if (typeof made !== 'string') return `– (${made.cannot})`
  return made === 'tokens' ? made : `\`${made}\``
}

function controlSection(control: string, { pathways }: Table): string {
  const ways = new Map<string, string[]>()
  for (const { flow, cells } of pathways) {
    const made = Object.entries(cells).find(([name]) => name === control)?.[1]
    if (made === undefined) throw new Error(`${flow.name} says nothing of ${control}`)
    const what = given(made)
    ways.set(what, [...(ways.get(what) ?? []), flow.name])
  }
  const rows = [...ways].map(([what, names]) => [what, names.join('; ')])
  const title = control === 'nothing' ? 'no control' : control
  return `### With ${title}\n\n${markdownTable(['gives', 'on'], rows)}\n`
}

/** The page `docs/pathways.md`. Throws for a way of an operation that there is not. */
export function pathwaysPage(table: Table, operations: readonly Operation[]): string {
  const letIn = table.pathways.flatMap((pathway) => {
    const { strength, flow } = pathway
    if (strength === null) return []
    return [[flow.name, requestOf(pathway, operations), ...strengthCells(strength)]]
  })
  const shown = ['factors', 'resists phishing', 'AAL', '`amr`']
  const head = ['way', 'last request', 'what is shown', ...shown]
  return [
    introduction,
    '## How strong each is',
    '',
    markdownTable(head, letIn),
    '',
    'A refresh goes on with the `amr` of the login that opened the session; the row shows it of a login by a password. A',
    'mailed link proves the mailbox and opens no session: a person who chooses a new password by a link logs in with it, and',
    'is asked for the second factor.',
    '',
    '## What each control makes of it',
    '',
    'What the last request of each way gives where the control is in force: tokens, a status, or a refusal. `mfaRequired` and',
    '`mfaEnrollmentRequired` are logins that still lack a second factor. Several controls at once give tokens exactly where',
    'each of them alone does.',
    '',
    ...table.controls.map((control) => controlSection(control, table)),
  ].join('\n')
}
