import { decodeJwt } from 'jose'
import { recipes } from '../recipe.ts'
import type { Company } from './create-network.ts'
import { enrollmentJwt } from './enroll-identity.ts'
import type { ServedController } from './start-controller.ts'

/** Lines to paste into a shell, for curl and openssl alone. */
export async function offerRecipes(
  { url }: ServedController,
  company: Company,
  enrolled: string,
  unenrolled: string,
): Promise<readonly string[]> {
  const jwt = await enrollmentJwt(company, unenrolled)
  const token = jwt === undefined ? undefined : decodeJwt(jwt).jti
  return recipes(url, enrolled, unenrolled, token).flatMap(({ title, commands }) => ['', `# ${title}`, ...commands])
}
