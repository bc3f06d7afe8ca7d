import type { Operation } from '../operations/operation.ts'
import { SCHEMAS, SECURITY, SECURITY_SCHEMES } from './components.ts'
import type { JsonObject } from './openapi-schema.ts'
import { operationObject, tagsOf } from './operation-object.ts'
import { commonRefusals } from './responses.ts'

/** The description of an API as a whole. */
export interface ApiDescription {
  readonly title: string
  readonly description: string
  readonly version: string
  /** The path below which the operations are served. */
  readonly basePath: string
}

/** Writes the OpenAPI 3.1 document of an API from its operations. */
export function openApiDocument(operations: readonly Operation[], about: ApiDescription): JsonObject {
  const paths: Record<string, JsonObject> = {}
  for (const { shape } of operations) {
    const [method = '', path = ''] = shape.route.split(' ')
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationObject(shape) }
  }
  return {
    openapi: '3.1.1',
    info: {
      title: about.title,
      description: about.description,
      version: about.version,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: about.basePath }],
    security: SECURITY,
    tags: tagsOf(operations.map(({ shape }) => shape.route)),
    paths,
    components: componentsFor(paths),
  }
}

/** The components that the operations refer to, directly or by way of others. */
function componentsFor(paths: JsonObject): JsonObject {
  const operations = JSON.stringify([SECURITY, paths])
  const responses = entriesIn(commonRefusals(), (name) => operations.includes(`#/components/responses/${name}"`))
  const answers = JSON.stringify([paths, responses, SCHEMAS.Error])
  return {
    securitySchemes: entriesIn(SECURITY_SCHEMES, (name) => operations.includes(`"${name}":[]`)),
    responses,
    schemas: entriesIn(SCHEMAS, (name) => answers.includes(`#/components/schemas/${name}"`)),
  }
}

function entriesIn(components: JsonObject, isUsed: (name: string) => boolean): JsonObject {
  return Object.fromEntries(Object.entries(components).filter(([name]) => isUsed(name)))
}
