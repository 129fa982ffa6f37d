/**
 * Addresses that look like a listed one, or that some browser, framework or parser reads as a way to
 * `evil.example` or to a script. `listed` is an `https:` address with a path and without a query.
 */
export function redirectCorpus(listed: string): readonly string[] {
  const { origin, host, pathname, port } = new URL(listed)
  const [name = ''] = host.split(':')
  return [
    // Another path, query, fragment or case: none is the listed address.
    ...[`${listed}/`, `${listed}?`, `${listed}#`, `${listed}?next=https://evil.example`],
    ...[`${listed}/../elsewhere`, `${listed}/..;/elsewhere`, `${listed}/%2e%2e/elsewhere`],
    ...[`${listed}\\..\\elsewhere`, `${listed}.evil`, `${listed}%00`, `${listed}%20`, ` ${listed}`],
    ...[`${listed} `, `${listed}\t`, `${listed}\n`, `${listed}\u0000`, `${listed}\u200b`],
    ...[listed.toUpperCase(), `${origin}${pathname.toUpperCase()}`, `${origin}/${pathname}`],
    ...[`${origin}/.${pathname}`, `${origin}${pathname.replace('-', '%2D')}`, `${origin}/`, origin],
    ...[`HTTPS://${host}${pathname}`, `https://${name.toUpperCase()}${pathname}`],
    ...[
      `${listed}/.`,
      `${listed}/..`,
      `${listed};evil`,
      listed.slice(0, -1),
      listed.replace('s', '%73'),
    ],
    ...[`${listed},https://evil.example`, `${listed} https://evil.example`, `\u0000${listed}`],
    // Another origin that begins or ends like it.
    ...[
      `http://${host}${pathname}`,
      `https://${host}:443${pathname}`,
      `https://${name}.${pathname}`,
    ],
    ...[`https://${name}.evil.example${pathname}`, `https://evil${name}${pathname}`],
    ...[`https://evil.example/${host}${pathname}`, `https://evil.example?${listed}`],
    ...[`https://evil.example#${listed}`, `https://evil.example\\@${host}${pathname}`],
    ...[`https://${host}@evil.example${pathname}`, `https://${host}:x@evil.example${pathname}`],
    ...[`https://evil.example:x@${host}${pathname}`, `https://x@${host}${pathname}`],
    ...[`https://${name}:8443${port}${pathname}`, `https://sub.${host}${pathname}`],
    ...[`https://${name.split('.').slice(1).join('.')}${pathname}`, `https://localhost${pathname}`],
    // Letters that look alike, and what they are turned into.
    ...[`https://${name.replace('a', '\u0430')}${pathname}`, `https://xn--pp-6kc.com${pathname}`],
    ...[`https://${name.replaceAll('.', '\u3002')}${pathname}`, `https://${name}\u2024${pathname}`],
    ...[`https://${name.replace('a', '\uff41')}${pathname}`, `https://evil.example\u2044${listed}`],
    // No scheme, or half of one: relative to the page that follows it.
    ...[
      '//evil.example',
      '///evil.example',
      '////evil.example',
      '\\\\evil.example',
      '/\\evil.example',
    ],
    ...[
      '\\/evil.example',
      '/%09/evil.example',
      '/%5cevil.example',
      '/%2f%2fevil.example',
      '%2f%2fevil.example',
      '%5c%5cevil.example',
    ],
    ...['https:evil.example', 'https:/evil.example', 'https:\\evil.example', 'http:evil.example'],
    ...['/\t/evil.example', '/\n/evil.example', '\t//evil.example', '\u0001//evil.example'],
    ...['h\nttps://evil.example', '@evil.example', '.evil.example', '//evil%E3%80%82example'],
    ...[
      `//${host}${pathname}`,
      pathname,
      `.${pathname}`,
      '?next=x',
      '#',
      '..',
      'null',
      'undefined',
    ],
    // Headers of the reply, or a second reply.
    ...[
      `${listed}\r\nSet-Cookie: a=b`,
      `${listed}%0d%0aSet-Cookie:%20a=b`,
      `${listed}\u560d\u560aX: y`,
    ],
    ...[`${listed}\r\n\r\n<script>alert(1)</script>`, `${listed}%0aLocation:%20//evil.example`],
    // Not a place at all.
    ...['javascript:alert(1)', `javascript://${host}${pathname}%0aalert(1)`, 'JaVaScRiPt:alert(1)'],
    ...[
      'java\tscript:alert(1)',
      ' javascript:alert(1)',
      'data:text/html,<script>alert(1)</script>',
    ],
    ...['data:text/html;base64,PHNjcmlwdD4=', 'vbscript:msgbox(1)', 'file:///etc/passwd'],
    ...[
      `blob:${listed}`,
      `view-source:${listed}`,
      'about:blank',
      'ftp://evil.example',
      'mailto:a@b',
    ],
    ...[`intent://${host}${pathname}#Intent;scheme=https;end`, 'ws://evil.example', 'urn:x', 'x'],
    // A pattern, for whoever matches instead of comparing.
    ...[
      '*',
      'https://*',
      `https://*.${name}${pathname}`,
      '.*',
      `${origin}/*`,
      '%',
      'https://[::1]/',
    ],
    ...['https://0x7f000001/', 'https://127.1/', 'https://2130706433/', 'https://evil.example'],
    // Names that every object has, and lengths that nobody needs.
    ...['__proto__', 'constructor', 'toString', '[object Object]', 'x'.repeat(2048)],
  ]
}
