/** German words and the English words that texts have for them, divided by bars. General words, written for this. */
export const germanGlossary = `
abend evening|abfahrt departure|abfall waste rubbish|abfluss drain|abgabe submission delivery
abgeben hand submit return|abgelaufen expired|abgelehnt rejected refused|abgeschafft abolished removed
abgestimmt voted|abholen collect pick|abholung collection|ablauf expiry procedure|ablaufen expire lapse
ablehnen reject refuse|abmelden deregister unsubscribe|abo subscription|abonnement subscription|absagen cancel
abschalten off|abschließen lock conclude|abschnitt section|absender sender|abstand distance|abstellen park
abstimmung vote|abteilung department|abwesend absent|abwesenheit absence|adresse address|alarm alarm|alkohol alcohol
alle all every|allein alone|allergie allergy|allergisch allergic|alt old|alter age|altersgrenze age limit|amt office
analyse analysis|anbieten offer|anbieter provider|anders different|anfang beginning start|anfangen begin start
anfrage request|angebot offer|angestellte employee staff|angriff attack|anhang annex attachment|ankommen arrive
ankunft arrival|anlage plant annex|anleitung instructions manual|anmelden register sign|anmeldung registration
annehmen accept|anruf call|anrufen call ring telephone|anschluss connection|ansprechpartner contact
anspruch entitlement entitled claim|anteil share|antrag application motion request|antwort answer reply|anwalt lawyer
anwendung use application|anzahl number|anzahlung deposit|anzeige display|apfel apple|apotheke pharmacy
arbeit work job|arbeiten work|arbeitet work|arbeitgeber employer|arbeitnehmer employee|arbeitsplatz workplace
arbeitszeit working hours|art kind type|arzt doctor physician|attest doctor's note certificate|aufbau assembly
aufbewahren keep store|aufbewahrung storage|aufbewahrungsfrist retention|aufgabe task duty|aufladen charge
auflösung dissolution|aufmachen open|aufnahme admission|aufräumen tidy|aufsicht supervision|aufstellen set
auftrag order job|auftraggeber client|aufzug lift elevator|auge eye|ausbildung training apprenticeship|ausdruck print
ausfall failure|ausfallen cancelled fail|ausgabe expense issue|ausgaben expenses spending|ausgang exit|ausgeben spend
ausgelöst triggered|ausland abroad foreign|ausleihe loan|ausleihen borrow lend|ausnahme exception|ausrüstung equipment
ausschalten off|ausschluss exclusion|ausstellung exhibition|austausch exchange replacement
austauschen replace exchange|austritt resignation leaving|ausweis identity card id|auszahlen pay|auszahlung payment
auto car vehicle|autor author|backen bake|backofen oven|backt bake|bad bath|bahn railway train|bahnhof station
balkon balcony|bank bank|bar cash|bargeld cash|batterie battery|bau construction|bauen build|bauer farmer
bauernhof farm|baujahr built|baum tree|beachten observe|beamer projector|beantragen apply request
bearbeiten edit process|bedeuten mean|bedeutet mean means|bedeutung meaning|bedienen operate|bedienung operation
bedingung condition|befehl command|befestigen fasten attach|befinden located|beginn start beginning
beginnen begin start|beginnt begin start|begründung reason|behalten keep|behandeln treat|behandlung treatment
behoben fixed|behälter container tank|behörde authority|bekommen get receive|bekommt get receive|beladen load
beleg receipt|beleuchtung lighting|beliebt popular|benachrichtigung notification|benutzen use|benutzer user
benutzt used|benutzung use|benzin petrol|benötigen need require|benötigt needed required|berater adviser
beratung advice|berechnen calculate charge|bereich area|bereit ready|bericht report|beruf profession job
bescheinigung certificate|beschließen decide|beschlossen decided|beschluss decision|beschwerde complaint
beschweren complain|beschädigen damage|beschädigung damage|besitzer owner|besprechung meeting|bestand stock
bestandteil part component|bestehen consist|bestellen order|bestellt ordered|bestellung order|bestimmt decide
bestimmung provision|bestätigen confirm|bestätigung confirmation|besuch visit|besuchen visit attend|besucher visitor
betrag amount|betragen amount|betreiben operate|betreuer supervisor|betreut looked|betrieb operation company
betriebssystem operating system|beträgt amount|bett bed|bewahren keep|bewerben apply|bewerbung application
bewerten rate|bewohner resident|bezahlen pay|bezahlt paid pays|bezahlung payment|biene bee|bier beer|bieten offer
bild picture image|bildschirm screen display|billig cheap|billigste cheapest|birne pear bulb|bitte please
blatt sheet leaf|blau blue|bleiben stay remain|bleibt stay|blinken blink flash|blume flower|blut blood
boden floor ground|bohnen beans|bohren drill|boot boat|brand fire|brauche need|brauchen need require|braucht need
braun brown|braut brew|brechen break|breit wide|breite width|bremse brake|brennen burn|brief letter|bringen bring
brot bread|bruder brother|brunnen fountain well|brücke bridge|buch book|buchen book|buchung booking|bus bus
butter butter|bäcker baker|bäckerei bakery|bücherei library|bühne stage|bürgermeister mayor|büro office
chef boss manager head|computer computer|dach roof|dame lady|dampf steam|darf may allowed|datei file|daten data
datenbank database|datenschutz privacy data protection|datum date|dauer duration|dauern last take|dauert take last
decke ceiling blanket|deckel lid|defekt defective broken|desinfektion disinfection|dichtung seal|dieb thief
diebstahl theft|dienst service|dienstag tuesday|dienstreise business trip|ding thing item|dokument document
donnerstag thursday|dorf village|dosis dose|draußen outside|drehen turn|drittel third|droge drug|druck pressure print
drucken print|drucker printer|dunkel dark|durchmesser diameter|durchschnitt average|durchsuchen search|durst thirst
dusche shower|dürfen may allowed permitted|ei egg|eier eggs|eigentum property|eigentümer owner|eimer bucket
einbruch burglary|einfach simple|einfrieren freeze|einfuhr import|eingang entrance|eingeführt introduced added
einheit unit|einkauf purchase|einkaufen buy shop|einkommen income|einladen invite|einladung invitation|einloggen log
einnahme intake taking revenue|einnahmen income revenue|einnehmen take|einreichen submit|einrichten set up
einrichtung setup facility|einsatz use|einschalten on|einschicken send|einstellen set adjust|einstellung setting
eintragen enter|eintritt admission entry|eintrittskarte ticket|einverstanden agree|einwilligung consent
einwohner inhabitants residents|einzahlen pay|eis ice|eisen iron|elektrisch electric|eltern parents|empfang reception
empfangen receive|empfehlen recommend|empfehlung recommendation|empfohlen recommended|empfänger recipient|ende end
enden end expire|endet end expire|energie energy|enkel grandchild|entfernen remove|entfernt far distance removed
entfernung distance|enthalten contain|enthält contain contains|entkalken descale|entlassen dismiss|entleeren empty
entscheiden decide|entscheidet decide|entscheidung decision|entschuldigung excuse|entsorgen dispose
entsorgung disposal|entwickeln develop|entwickelt developed|erfahrung experience|erfinden invent|erfolg success
erfunden invented|ergebnis result|erhalten receive get|erhält receive get|erhöhen increase|erhöhung increase
erkennen recognize|erklären explain|erklärung explanation declaration|erkältung cold|erlauben allow
erlaubnis permission consent|erlaubt allowed permitted|ermäßigung discount reduction|ernte harvest|erreichbar reach
erreichen reach|ersatz replacement|ersatzteil spare part|ersetzen replace|ersetzt replaced|erstatten refund reimburse
erstattet refunded reimbursed|erstattung refund reimbursement|erste first|erstellen create|ersten first
erwachsene adult|erwachsener adult|eröffnen open|eröffnet opened|eröffnung opening|essen eat food|essig vinegar
etage floor|fach compartment subject|fahre drive|fahren drive ride|fahrer driver|fahrkarte ticket|fahrrad bicycle bike
fahrräder bicycles bikes|fahrt journey trip|fahrzeug vehicle|fallen fall|falsch wrong|familie family
farbe colour color|farben colours|fehlen missing absent|fehler error fault mistake|fehlt missing|feiertag holiday
feld field|fenster window|ferien holidays vacation|fertig finished ready|festival festival|festplatte disk|fett fat
feucht damp humid|feuchtigkeit humidity moisture|feuer fire|feuerwehr fire brigade|fieber fever|film film
filter filter|finanzen finances|finden find|findet find|firma company firm|fisch fish|flach flat|flasche bottle
fleisch meat|fliegen fly|fliegt fly|flug flight|flughafen airport|fluss river|fläche area surface|folge consequence
fordert demand|form form|formular form|foto photo picture|frage question|fragen ask|frau woman|frei free
freigabe approval release|freigeben approve release|freitag friday|freiwillige volunteers|freiwilliger volunteer
frist deadline period notice|früh early|frühling spring|frühstück breakfast|funktion function|funktionieren work
funktioniert work|fuß foot|fährt drive run|fällig due|führen lead|führerschein driving licence|füllen fill|gabel fork
garantie guarantee warranty|garten garden|gas gas|gast guest|gebaut built|geben give|gebiet area|geboren born
gebrauch use|gebraucht used|gebucht booked|geburt birth|geburtsdatum date birth|geburtstag birthday|gebäude building
gebühr fee charge|gebühren fees|gedacht meant|gefahr danger|gefroren frozen|gefunden found|gefährlich dangerous
gegenstand item object|gegner opponent|gegründet founded|gehalt salary pay|gehe go|geht go work|gehört belong
gekauft bought|gekostet cost|gelb yellow|geld money|geliefert delivered|gelten valid apply|gelände site grounds
gelöscht deleted erased|gemeinde municipality parish|gemüse vegetables|genannt named|genau exact|genehmige approve
genehmigen approve|genehmigt approved approve|genehmigung approval permission|genutzt used|gepäck luggage
gereinigt cleaned|gericht court dish|geruch smell|gerät device machine unit|geräusch noise|gesamt total
geschenk gift present|geschenke gifts|geschichte history story|geschieht happen|geschirr dishes
geschirrspüler dishwasher|geschlagen hit|geschlossen closed|geschrieben written|geschwindigkeit speed
geschäft shop business|geschäftsführer managing director|geschützt protected|gesellschaft company society|gesetz law
gespeichert stored saved|gesperrt blocked|gespräch conversation|gestellt put|gestohlen stolen|gestorben died
gesund healthy|gesundheit health|geteilt shared|getreide grain|getränk drink|gewechselt changed replaced
gewicht weight|gewinn profit|gewinnen win|gewitter thunderstorm|gewonnen won|gewählt elected|gewürz spice
geändert changed|geöffnet open|gift poison|gilt valid applies|glas glass|gleich same|gläser glasses|grad degrees
gramm gram|gratis free|grenze limit border|grenzwert limit|groß large big|großeltern grandparents
großmutter grandmother|großvater grandfather|grund reason|gruppe group|größe size|größte largest|grün green
gründen found|gründer founder|gründung foundation|guthaben credit balance|gäste guests|gültig valid|günstig cheap
günstigste cheapest|haar hair|hafen harbour port|haft liability|haften liable|haftung liability|hahn tap|halb half
halle hall|hals neck throat|halt stop|haltbar keep|haltbarkeit shelf life|halten keep hold|hand hand|handel trade
handschuhe gloves|handtuch towel|handy mobile phone|haus house|hausmeister caretaker|haustier pet|haut skin|heben lift
hefe yeast|heft booklet|heilen heal|heim home|heizung heating|heiß hot|heißen called|heißt called mean|helfen help
helfer helper volunteer|helm helmet|herbst autumn|herd stove|hergestellt made|herr mr|hersteller manufacturer maker
herstellung production|herunterladen download|herz heart|hilfe help support|hilft help|himmel sky|hinweis note
hinzugefügt added|hitze heat|hobby hobby|hoch high|hochladen upload|hochzeit wedding|hof yard|holz wood
homeoffice home|honig honey|hose trousers|hotel hotel|hund dog|hunde dogs|hunger hunger|husten cough|hälfte half
hält last holds|höchste highest maximum|höchstens most maximum|höchster highest|höhe height amount|hören hear
hört hear|hütte hut|impfen vaccinate|impfstoff vaccine|impfung vaccination|inhalt content|inhaltsstoff ingredient
installieren install|internet internet network|isst eat|jacke jacket|jahr year|jahre years|jahresbeitrag annual fee
jugend youth|jugendliche youth young|jung young|junge boy|jährlich annual yearly year|jüngste youngest|kabel cable
kaffee coffee|kalender calendar|kalt cold|kamera camera|kanal canal channel|kandidat candidate|kann can may
kaputt broken|karte card ticket map|karten cards tickets|kartoffel potato|kasse cash desk till|kassier treasurer
kassierer treasurer|katze cat|kaufen buy|kauft buy|kaution deposit|kehle throat|keller cellar basement
kennwort password|kette chain|kind child|kinder children|kirche church|kiste box|klage complaint|klasse class
klein small|kleinste smallest|klima climate|klingel bell|klinik clinic hospital|knopf button|koch cook
kochen cook boil|kocht cook|koffer suitcase|kohle coal|kollege colleague|komitee committee|kommt come
komplett complete|konferenz conference|kontakt contact|konto account|kontrolle check inspection|kontrollieren check
kopf head|kopie copy|korb basket|kosten cost price|kostenlos free|kostet cost price|kraft force|krank sick ill
krankenhaus hospital|krankheit illness sickness disease|krankmelden sick|krankmeldung sick leave
kreditkarte credit card|kreis circle|kuchen cake|kugel ball|kuh cow|kunde customer client|kunden customers clients
kundendienst service support|kunst art|kunststoff plastic|kurs course|kurz short|kälte cold|käse cheese|käufer buyer
können can may|körper body|küche kitchen|kühl cool|kühlen cool|kühlschrank fridge|kündigen cancel terminate
kündigung notice termination cancel|kündigungsfrist notice period|kürzeste shortest|küste coast|labor laboratory
laden charge shop|ladung load|lage location|lager stock warehouse|lagern store|lagerung storage|lampe lamp
land country|landwirt farmer|lang long|lappen cloth|lastenrad cargo bike|laufzeit term|laut loud|lautstärke volume
leben live life|lebensmittel food|leder leather|leer empty|leeren empty|lehrer teacher|lehrling apprentice|lehrt teach
leicht light easy|leichteste lightest|leihen borrow rent|leine lead leash|leise quiet|leistung power performance
leiten lead head manage|leiter head manager ladder|leiterin head manager|leitet head lead manage
leitung management pipe|lernen learn|lernt learn|lesen read|letzte last|leute people|licht light|lied song
lieferant supplier|lieferanten suppliers|liefern deliver supply|liefert supplies supplier deliver|lieferung delivery
lieferzeit delivery|liegen lie located|liegt located lie|liest read|links left|liste list|liter litre
lizenz licence license|lkw truck lorry|loch hole|lohn wage pay|luft air|luftfilter air filter|länge length
längste longest|lärm noise|läuft run|löffel spoon|löschen delete erase|lösen solve|lösung solution
lüften ventilate air|mache make do|machen do make|macht make|mahlzeit meal|mahnung reminder|maler painter
mangel defect|mann man|mantel coat|maschine machine|masse mass|material material|maus mouse|maximal maximum
maß measure|medikament medicine medication drug|meer sea|mehl flour|mehr more|mehrheit majority|mehrwertsteuer vat
meinung opinion|melden report|meldung report message|menge quantity amount|mensch person people|merkmal feature
messen measure|messer knife|meter metres|miete rent|mieten rent hire|mieter tenant|mietet rent|mietvertrag lease
milch milk|mindestalter minimum age|mindestens least minimum|mindestlaufzeit minimum term|minute minute|mischen mix
mitarbeiter employee staff|mitbringen bring|mitglied member|mitglieder members|mitgliedschaft membership
mitnehmen take bring|mittag noon lunch|mittagessen lunch|mitte middle|mittel means|mittwoch wednesday|modell model
monat month|monatlich monthly month|montag monday|montage assembly|morgen morning tomorrow|motor motor engine
musik music|muss must required|mutter mother|mädchen girl|möbel furniture|möchte want|möglich possible|müde tired
müll rubbish waste|müssen must required need|nachbar neighbour|nachname surname|nachricht message news|nacht night
nachweis proof|nadel needle|nagel nail|nahrung food|name name|nase nose|nass wet|natur nature|nebel fog
nebenwirkung side effect|nehmen take|nennen name|netz network|netzwerk network|netzwerkanfrage network request|neu new
neues new|neustart restart|niederschlag rain|niedrig low|niedrigste lowest|nimmt take|norden north|normal normal
notar notary|notfall emergency|notiz note|notwendig necessary|nummer number|nuss nut|nutzen use|nutzer user
nutzung use|nähe near|nähen sew|nötig necessary needed|nötige needed|nüsse nuts|obmann chair|obst fruit|ofen oven
offen open|ohr ear|onkel uncle|operation operation|opfer victim|ordner folder|ordnung order|ort place location
osten east|packung pack|paket parcel package|papier paper|park park|parken park parking|parkplatz parking|partei party
partner partner|passieren happen|passiert happen|passwort password|patient patient|pause break|person person
personal staff|personen people|pfand deposit|pfeffer pepper|pferd horse|pflanze plant|pflege care|pflegen care
pflicht duty|pflug plough|pilz mushroom|plan plan|planen plan|platz place space seat|plätze places seats
polizei police|post post mail|postleitzahl postcode|preis price cost|preise prices|preisliste price list
privat private|probe sample test|probezeit probation|problem problem|produkt product|programm program|projekt project
protokoll minutes log|prozent per cent|prüfen check test|prüfung test exam|pulver powder|pumpe pump|putzen clean
quelle source|quittung receipt|rabatt discount|rad wheel bike|rahmen frame|rand edge|rasen lawn|rat advice council
rathaus town hall|rauch smoke|rauchen smoke|raum room|rechnung invoice bill|rechnungen invoices bills|recht right law
rechts right|rede speech|regal shelf|regel rule|regen rain|regenschirm umbrella|region region|reifen tyre|reihe row
reihenfolge order|rein clean|reinigen clean|reinigung cleaning|reis rice|reise journey trip travel
reisekosten travel expenses|reisen travel|rente pension|reparatur repair|reparieren repair|repariert repaired
reserve reserve|reservieren reserve book|reservierung reservation|rest rest|restmüll residual waste
rezept prescription recipe|richter judge|richtig right correct|richtlinie policy|richtung direction|riechen smell
risiko risk|rohr pipe|rolle role|rosten rust|rot red|rufen call|ruhe quiet rest|ruhig quiet|rückerstattung refund
rückgabe return|rücksendung return|saal hall|sache thing|saft juice|sagen say|salz salt|sammeln collect
sammlung collection|samstag saturday|sand sand|satz sentence|satzung statutes|sauber clean|schaden damage|schaf sheep
schalten switch|schalter switch|scharf sharp|schatten shade|schatzmeister treasurer|scheibe slice|schere scissors
schicht shift layer|schicken send|schiff ship boat|schirm umbrella|schlafen sleep|schlag blow|schlange snake
schlauch hose|schlecht bad|schleifen sharpen|schließen close|schließt close|schließung closure|schloss lock castle
schläft sleep|schlüssel key|schmerz pain|schmutzig dirty|schnee snow|schneiden cut|schnell fast quick
schnellste fastest|schnitt cut|schrank cupboard|schraube screw|schreiben write|schreibt write|schriftführer secretary
schriftlich writing written|schritt step|schuh shoe|schule school|schulferien school holidays|schutz protection
schutzbrille goggles|schwach weak|schwanger pregnant|schwangerschaft pregnancy|schwarz black|schwein pig|schwer heavy
schwerste heaviest|schwester sister|schwierig difficult|schwimmen swim|schäden damage|schüler pupil student
schützen protect|see lake|seife soap|seil rope|seite page side|sekretär secretary|sekunde second|selbst self
senden send|sendung parcel|senior senior|sensor sensor|sicher safe secure|sicherheit safety security
sicherung backup fuse|sieden boil|sieger winner|sieht see|signal signal|silber silver|sitz seat|sitzung meeting
software software|sohn son|sollen should|sommer summer|sonne sun|sonntag sunday|sorte kind|spannung voltage
sparen save|spaß fun|speicher memory storage|speichern store save|speise dish|sperre block|sperren block lock
sperrt block|spiegel mirror|spiel game|spielen play|sprache language|sprachen languages|sprechen speak|spricht speak
springen jump|spät late|spülen rinse|staat state|stadt town city|stahl steel|stall stable|stamm trunk
standard default standard|standardmäßig default|standort location site|stark strong|start start|starten start
startet start|station station|statt instead|stattfinden held place|staub dust|staubsauger vacuum|steckdose socket
stecker plug|stehlen steal|steht stand|steigen rise|stein stone|stelle position job|stellen put|steuer tax
stift pencil|stiftung foundation|stimme vote voice|stimmen votes|stimmrecht voting|stock floor stick|stoff material
stornieren cancel|stornierung cancellation|strafe penalty fine|strand beach|straße street road|strecke route
streit dispute|strom electricity power|student student|studierende students|stufe level|stuhl chair|stunde hour
stunden hours|sturm storm|störung fault|stück piece|suche search|suchen search|sucht search|summe sum total
system system|säubern clean|süden south|süß sweet|tabelle table|tablette tablet|tag day|tage days|tante aunt
tarif plan tariff rate|tasche bag|tasse cup|taste button key|tauschen exchange|techniker technician
technisch technical|tee tea|teig dough|teil part|teilen share|teilnahme participation|teilnehmen participate attend
teilnehmer participant|teilzeit part-time|telefon telephone phone|telefonnummer telephone number|teller plate
temperatur temperature|termin appointment date|test test|testen test|teuer expensive|teuerste expensive|text text
theater theatre|thema topic|tief deep|tier animal|tiere animals|tisch table|titel title|tochter daughter|tod death
toilette toilet|topf pot|tor gate|tot dead|touristen tourists|tragen carry wear|trainer coach trainer
training training|transport transport|treffe meet|treffen meeting meet|treppe stairs|treten step|trifft meet
trinken drink|trinkgeld tip|trinkt drink|trocken dry|trocknen dry|trockner dryer|tropfen drop|trägt carry wear
tuch cloth|tue do|tun do|turm tower|täglich daily day|täglichen daily|täter offender|tödlich fatal|tür door|ufer bank
uhrzeit time|umbau conversion|umfang scope|umfrage survey|umgebung environment|umkehren reverse|umrechnen convert
umsatz revenue turnover|umtausch exchange|umtauschen exchange|umwelt environment|umzug move moving|unfall accident
unfälle accidents|universität university|unterbrechen interrupt|unterkunft accommodation|unterlage document
unternehmen company|unterricht lesson|unterschied difference|unterschreiben sign|unterschreibt sign
unterschrift signature|unterstützen support|unterstützt supported|unterstützung support|untersuchen examine
untersuchung examination|urlaub leave vacation holiday|urlaubstage days leave vacation|ursache cause|vater father
veranstalten organize|veranstaltung event|verantwortet responsible|verantwortlich responsible
verantwortung responsibility|verband bandage association|verbessern improve|verbieten forbid|verbindung connection
verboten forbidden prohibited allowed|verbrauch consumption|verbrauchen use consume|verbrennen burn|verdienen earn
verein association club society|vereinbaren agree|vereinbarung agreement|verfahren procedure|verfallen expire lapse
verfallsdatum expiry|verfügbar available|vergessen forget forgotten missed|vergleich comparison|vergütung pay
verheiratet married|verkauf sale|verkaufen sell|verkauft sold sell|verkehr traffic|verkäufer seller
verlangt demand charge|verlassen leave|verletzen injure|verletzung injury|verlieren lose|verliert loses|verloren lost
verlorene lost|verlost drawn|verlust loss|verlängern extend renew|verlängerung extension renewal|vermeiden avoid
vermieten rent let|vermieter landlord|vermietet rent|vermögen assets|verpackung packaging|verpassen miss
versammlung meeting assembly|versand shipping|versandkosten shipping|verschicken send ship|verschieben postpone
verschlossen closed locked|verschmutzt dirty|versichern insure|versichert insured|versicherung insurance
versicherungsnehmer policyholder|version version|verspätung delay|versuch attempt|versuchen try
vertrag contract agreement|vertrauen trust|vertraulich confidential|vertreter representative deputy
vertretung substitute deputy|verträge contracts|verursachen cause|verwalten manage|verwalter manager
verwaltung administration management|verwandte relatives|verwenden use|verwendet used|verwendung use|verzug delay late
verzugszins late interest|verzögerung delay|verändern change|vieh cattle|viertel quarter|vogel bird|volk people
voll full|vollmacht power attorney|vorbereiten prepare|vorlage template|vorname first name|vorrat stock supply
vorschlag proposal|vorschrift regulation|vorsicht caution|vorsitz chair|vorsitzende chair|vorsitzender chair
vorstand board committee|vorstellung performance|vorteil advantage|vorteile advantages|waage scales|wachsen grow
wagen car|wahl election|wald forest|wand wall|ware goods|waren goods|warm warm|warnen warn|warnung warning|warten wait
wartet wait|wartezeit waiting|wartung maintenance service|waschen wash|waschmaschine washing machine|wasser water
wasserstand water level|wechsel change|wechseln change replace|weg way path|weich soft|weihnachten christmas|wein wine
weit far|weiß white|welt world|wenig little few|weniger less fewer|werben advertise|werbung advertising|werk plant
werkstatt workshop|werkzeug tool|wert value|west west|westen west|wetter weather|wichtig important|widerruf withdrawal
widerrufen withdraw revoke|widerspruch objection|wiederherstellen restore recover|wiegen weigh|wiegt weigh weight
wiese meadow|will want|wind wind|winter winter|wirkung effect|wissen know|witwe widow|woche week|wochen weeks
wochenende weekend|wohnen live|wohnmobil camper van|wohnung flat apartment|wolle wool|wort word|wunde wound
wurzel root|wählen choose elect|wärme heat|wäsche laundry|wöchentlich weekly week|zahl number|zahlen pay|zahlt pays
zahlung payment|zahlungsfrist payment|zahlungsmittel means payment|zahn tooth|zahnarzt dentist|zaun fence|zeichen sign
zeichnen draw|zeichnet draw|zeigen show|zeile row|zeit time|zeitraum period|zeitung newspaper|zelt tent
zeltplatz campsite camping|zentrum centre|zerstören destroy|zertifikat certificate|zeuge witness|ziege goat
ziehen pull|ziel goal|zimmer room|zins interest|zinsen interest|zoll customs|zone zone|zubehör accessories
zucker sugar|zug train|zugang access|zukunft future|zulassen allow|zuletzt last|zulässig allowed|zurück back
zurückgeben return|zurücksetzen reset|zusammenfassung summary|zuschlag supplement surcharge|zuschuss subsidy
zustand condition|zustellen deliver|zustimmen agree|zustimmung consent approval|zuständig responsible|zutat ingredient
zutaten ingredients|zutritt access|zwiebel onion|zählen count|zähler meter|älteste oldest|ändern change
änderung change|ärztin doctor|öffnen open|öffnet open|öffnung opening|öffnungszeiten opening hours|öl oil
überfällig overdue|übergabe handover|überschreiten exceed|übersetzen translate|überstunden overtime
überweisen transfer|überweisung transfer
`;
