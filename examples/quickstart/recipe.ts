import { ADMIN_FILE, CA_FILE, deviceFiles } from './files.ts'

/** Shell commands that do with curl and openssl what the story did: for a terminal in the folder the quickstart runs in. */
export interface Recipe {
  readonly title: string
  readonly commands: readonly string[]
}

const JSON_BODY = "-H 'content-type: application/json'"
/** Takes the text of a member out of a JSON answer. */
const member = (name: string) => `sed -n 's/.*"${name}":"\\([^"]*\\)".*/\\1/p'`

/** The recipes for a controller at `url`; `token` is the enrollment token of an identity that is not enrolled yet. */
export function recipes(
  url: string,
  enrolled: string,
  unenrolled: string,
  token: string | undefined,
): readonly Recipe[] {
  const curl = `curl -sS --cacert ${CA_FILE}`
  const management = `${url}/edge/management/v1`
  const client = `${url}/edge/client/v1`
  const logIn = (name: string) => {
    const { certFile, keyFile } = deviceFiles(name)
    return `${curl} --cert ${certFile} --key ${keyFile} -X POST '${client}/authenticate?method=cert'`
  }
  const listServices = (variable: string) => `${curl} -H "zt-session: $${variable}" '${client}/services'`
  return [
    {
      title: 'Log in with the password and list the identities',
      commands: [
        `ADMIN=$(${curl} ${JSON_BODY} -d @${ADMIN_FILE} '${management}/authenticate?method=password' | ${member('token')})`,
        `${curl} -H "zt-session: $ADMIN" '${management}/identities'`,
      ],
    },
    {
      title: `Log in as ${enrolled} with its certificate (mTLS) and list its services`,
      commands: [`LAPTOP=$(${logIn(enrolled)} | ${member('token')})`, listServices('LAPTOP')],
    },
    ...(token === undefined ? [] : [enrollment(client, curl, unenrolled, token, logIn, listServices)]),
  ]
}

function enrollment(
  client: string,
  curl: string,
  name: string,
  token: string,
  logIn: (name: string) => string,
  listServices: (variable: string) => string,
): Recipe {
  const { certFile, keyFile } = deviceFiles(name)
  const [csrFile, answerFile] = [keyFile.replace(/key$/, 'csr'), keyFile.replace(/key$/, 'json')]
  const pem = "-H 'content-type: application/x-pem-file'"
  return {
    title: `Enroll ${name}: a key, a signing request, the one-time token; then log in with the certificate`,
    commands: [
      `openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out ${keyFile}`,
      `openssl req -new -key ${keyFile} -subj '/CN=${name}' -out ${csrFile}`,
      `${curl} ${pem} --data-binary @${csrFile} '${client}/enroll?method=ott&token=${token}' -o ${answerFile}`,
      `printf '%b' "$(${member('cert')} ${answerFile})" > ${certFile}`,
      `PHONE=$(${logIn(name)} | ${member('token')})`,
      listServices('PHONE'),
    ],
  }
}
