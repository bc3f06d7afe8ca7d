import type { Ajv, Options } from 'ajv'
import { canonicalJson } from '../../base/text.ts'
import { FORMATS } from './json-schema-formats.ts'

/** Makes validators that neither fetch nor backtrack. The libraries are loaded with the first schema. */
export async function loadAjv(): Promise<(options: Options) => Ajv> {
  const { Ajv } = await import('ajv')
  const { default: formats } = await import('ajv-formats')
  const { RE2JS } = await import('re2js')
  const linear = (pattern: string) => {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern))
    // ajv recognises equal patterns by their text.
    return { test: (text: string) => compiled.test(text), toString: () => pattern }
  }
  const regExp = Object.assign(linear, { code: 'new RegExp' })
  return (options) => {
    const ajv = new Ajv({
      strict: false,
      logger: false,
      inlineRefs: false,
      ownProperties: true,
      code: { regExp },
      ...options,
    })
    formats.default(ajv, { formats: [...FORMATS] })
    // The library compares every two elements.
    ajv.removeKeyword('uniqueItems')
    ajv.addKeyword({
      keyword: 'uniqueItems',
      type: 'array',
      schemaType: 'boolean',
      error: { message: 'must not hold an element twice' },
      validate: (wanted: boolean, elements: readonly unknown[]) => !wanted || areDistinct(elements),
    })
    return ajv
  }
}

function areDistinct(elements: readonly unknown[]): boolean {
  return new Set(elements.map(canonicalJson)).size === elements.length
}
